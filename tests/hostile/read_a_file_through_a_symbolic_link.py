# Tries to read a file through a link in scratch.
import os
os.symlink(SECRET, "link")
open("link").read()
"reached"
