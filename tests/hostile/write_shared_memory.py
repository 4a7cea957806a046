# Tries to fill the memory through /dev/shm.
with open("/dev/shm/x", "wb") as file:
    for _ in range(300): file.write(bytes(1 << 20))
"reached"
