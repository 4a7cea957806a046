# Tries to touch a file.
import os
os.utime(SECRET, (1, 1))
"reached"
