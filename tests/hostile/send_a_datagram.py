# Tries to send data without a connection.
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"data", ("127.0.0.1", DATAGRAM_PORT))
"reached"
