# Tries to get rights in a namespace of its own.
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
assert libc.unshare(0x10000000) == 0, "refused"
"reached"
