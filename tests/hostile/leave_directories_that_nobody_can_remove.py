# Tries to make the session unusable with directories that are too deep, or closed.
import os
os.makedirs("closed/within")
os.chmod("closed", 0)
for _ in range(3_000):
    os.mkdir("a" * 50)
    os.chdir("a" * 50)
1
# next process
"fine"
