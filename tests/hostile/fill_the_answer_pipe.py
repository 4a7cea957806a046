# Tries to block csv-agent with bytes.
import os
while True: os.write(201, b"x" * 65536)
