# Tries to read a file by its path.
open(SECRET).read()
"reached"
