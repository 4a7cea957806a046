# Tries to learn of a file by its name.
# Needs namespaces to be stopped.
import os
os.stat(SECRET)
"reached"
