# Tries to read a file through another program.
import subprocess
subprocess.run(["cat", SECRET], check=True, capture_output=True)
"reached"
