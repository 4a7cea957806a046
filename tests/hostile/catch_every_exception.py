# Tries to go on past the deadline by catching the interrupt.
while True:
    try:
        while True: pass
    except BaseException: pass
