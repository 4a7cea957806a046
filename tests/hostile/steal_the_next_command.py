# Tries to read what is meant for the worker.
import os, threading
threading.Thread(target=os.read, args=(200, 1 << 20), daemon=True).start()
"fine"
