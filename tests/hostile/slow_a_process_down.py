# Tries to take time from a process of the user.
import os
os.setpriority(os.PRIO_PROCESS, VICTIM, 19)
"reached"
