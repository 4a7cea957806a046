# Tries to see another root directory.
import os
os.chroot(".")
"reached"
