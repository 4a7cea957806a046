# Tries to fill the disk where the limit of a file does not count.
import ctypes
with open("file", "w") as file:
    assert ctypes.CDLL(None).fallocate(file.fileno(), 1, ctypes.c_long(0), ctypes.c_long(6 << 30)) == 0, "refused"
"reached"
