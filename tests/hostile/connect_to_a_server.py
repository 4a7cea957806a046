# Tries to send data to a server.
import socket
socket.create_connection(("127.0.0.1", PORT), 2).send(b"data")
"reached"
