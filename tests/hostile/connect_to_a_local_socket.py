# Tries to reach a service such as Docker or the desktop.
import socket
socket.socket(socket.AF_UNIX).connect(SOCKET)
"reached"
