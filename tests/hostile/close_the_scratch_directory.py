# Tries to make the session unusable by closing its directory.
import os
os.chmod(".", 0)
1
# next process
"fine"
