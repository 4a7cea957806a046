# Tries to go on past the deadline.
import signal
for it in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try: signal.signal(it, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
while True: pass
