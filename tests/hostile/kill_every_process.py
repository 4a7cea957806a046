# Tries to kill all that can be killed.
import os, signal
try: os.kill(-1, 9)
except OSError: pass
"fine"
