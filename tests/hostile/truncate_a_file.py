# Tries to empty a file.
import os
os.truncate(SECRET, 0)
"reached"
