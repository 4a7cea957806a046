# Tries to read the interfaces of the machine.
import socket
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))
"reached"
