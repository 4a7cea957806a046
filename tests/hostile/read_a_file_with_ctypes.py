# Tries to read a file past Python's own functions.
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.open(SECRET.encode(), 0)
assert 0 <= fd, "refused"
"reached"
