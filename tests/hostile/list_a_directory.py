# Tries to list what the user has.
import os
os.listdir(OUTSIDE)
"reached"
