# Tries to have the kernel send a signal to a process of the user.
import fcntl, socket, struct
one, other = socket.socketpair()
fcntl.ioctl(one, 0x8901, struct.pack("i", VICTIM))
"reached"
