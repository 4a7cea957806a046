# Tries to send to a service from a socket that needs no permission.
import socket
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(b"data", DATAGRAMS)
"reached"
