# Tries to start more processes than allowed.
import subprocess
processes = [subprocess.Popen(["sleep", "5"]) for _ in range(9)]
"reached"
