# Tries to control another process.
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(0, 0, 0, 0) == 0, "refused"
"reached"
