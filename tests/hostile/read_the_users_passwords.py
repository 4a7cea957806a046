# Tries to read what only root may read.
open("/etc/shadow").read()
"reached"
