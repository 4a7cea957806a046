# Tries to leave a program in scratch that runs with the rights of who owns it outside.
import os
os.close(os.open("program", os.O_CREAT | os.O_WRONLY, 0o4755))
"reached"
