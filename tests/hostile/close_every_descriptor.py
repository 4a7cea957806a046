# Tries to cut the worker off.
import os
os.closerange(0, 256)
1
