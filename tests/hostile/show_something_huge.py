# Tries to show a value whose text fills the memory.
"x" * 10 ** 9
