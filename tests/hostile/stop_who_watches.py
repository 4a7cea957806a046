# Tries to stop or kill the process above.
import os, signal
for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
    for pid in (1, os.getppid()):
        try: os.kill(pid, number)
        except OSError: pass
"fine"
