# Tries to read a disk past its file system.
import glob
open((glob.glob("/dev/[sv]d?") + ["/dev/mem"])[0], "rb").read(1)
"reached"
