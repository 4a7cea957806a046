# Tries to use the numbers of the x32 machine, which a filter may not know.
import ctypes, platform
assert platform.machine() == "x86_64", "only there"
libc = ctypes.CDLL(None, use_errno=True)
assert 0 <= libc.syscall(0x40000000 + 41, 2, 1, 0), "refused"
"reached"
