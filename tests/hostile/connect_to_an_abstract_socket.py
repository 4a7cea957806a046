# Tries to reach a service that has no file.
import socket
socket.socket(socket.AF_UNIX).connect(UNNAMED)
"reached"
