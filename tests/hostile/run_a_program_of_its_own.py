# Tries to write a program and run it.
import os, shutil, subprocess
shutil.copyfile("/bin/true", "mine")
os.chmod("mine", 0o700)
subprocess.run(["./mine"], check=True)
"reached"
