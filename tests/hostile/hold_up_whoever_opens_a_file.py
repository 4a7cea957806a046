# Tries to make csv-agent wait for a lease on a file that it opens.
import fcntl
with open("file", "w") as file: file.write("x")
held = open("file")
fcntl.fcntl(held, 1024, fcntl.F_RDLCK)
"reached"
