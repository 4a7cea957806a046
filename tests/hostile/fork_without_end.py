# Tries to fill the machine with processes.
import os
for _ in range(100_000):
    try: os.fork()
    except OSError: pass
"fine"
