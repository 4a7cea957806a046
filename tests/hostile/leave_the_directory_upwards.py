# Tries to reach a file relative to the working directory.
import os
os.chdir("/")
os.chdir("..")
open(SECRET[1:]).read()
"reached"
