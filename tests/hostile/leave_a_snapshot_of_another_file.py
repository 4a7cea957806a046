# Tries to have a file of the user read as a variable.
import os
os.makedirs(".snapshot", exist_ok=True)
os.symlink(SECRET, ".snapshot/manifest.json")
value = 1
# next process
"fine"
