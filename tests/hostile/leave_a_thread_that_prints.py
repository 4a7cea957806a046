# Tries to mix its output into that of later calls.
import threading
def work():
    while True: print("reached")
threading.Thread(target=work, daemon=True).start()
1
# next call
"fine"
