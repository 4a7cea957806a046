# Tries to give a file in scratch the rights of who owns it outside.
import os
open("program", "w").close()
os.chmod("program", 0o4755)
"reached"
