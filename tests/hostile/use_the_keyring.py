# Tries to read keys that the kernel keeps.
import ctypes, platform
number = {"x86_64": 250, "aarch64": 219}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
assert 0 <= libc.syscall(number, 0, -4, 1), "refused"
"reached"
