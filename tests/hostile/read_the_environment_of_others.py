# Tries to read keys from the environment of another process.
open(f"/proc/{VICTIM}/environ").read()
"reached"
