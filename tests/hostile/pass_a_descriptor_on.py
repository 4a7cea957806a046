# Tries to hide an open file in a socket, where no limit counts it.
import socket
one, other = socket.socketpair()
socket.send_fds(one, [b"x"], [open("file", "w").fileno()])
"reached"
