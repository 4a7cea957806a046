# Tries to give a file a second name in scratch.
import os
os.link(SECRET, "hard")
open("hard").read()
"reached"
