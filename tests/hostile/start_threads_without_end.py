# Tries to fill the machine with threads.
import threading, time
for _ in range(5_000): threading.Thread(target=time.sleep, args=(2,), daemon=True).start()
"reached"
