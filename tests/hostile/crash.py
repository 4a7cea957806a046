# Tries to crash native code.
import ctypes
ctypes.string_at(0)
