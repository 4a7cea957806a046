# Tries to send data in the name of a host.
import socket
socket.gethostbyname("data.example.com")
"reached"
