# Tries to make a device of its own.
import os, stat
os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
"reached"
