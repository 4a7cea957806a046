# Tries to fill the disk with one file.
with open("large", "wb") as file:
    for _ in range(700): file.write(bytes(1 << 20))
"reached"
