# Tries to open a file by its number in the file system.
import ctypes, platform
number = {"x86_64": 304, "aarch64": 265}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
handle = ctypes.create_string_buffer(bytes([8, 0, 0, 0, 1, 0, 0, 0, 2] + [0] * 16))
fd = libc.syscall(number, -100, handle, 0)
assert 0 <= fd, "refused"
"reached"
