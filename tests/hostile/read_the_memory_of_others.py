# Tries to read the memory of another process.
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(16, VICTIM, 0, 0) == 0, "refused"
"reached"
