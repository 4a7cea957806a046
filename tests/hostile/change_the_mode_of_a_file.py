# Tries to open a secret to other users.
import os
os.chmod(SECRET, 0o666)
"reached"
