# Tries to kill a process of the user.
import os
os.kill(VICTIM, 9)
"reached"
