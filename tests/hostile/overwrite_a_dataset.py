# Tries to change the data of the session.
open(DATASET, "r+b").write(b"x")
"reached"
