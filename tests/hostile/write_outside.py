# Tries to write a file elsewhere.
import os
open(os.path.join(OUTSIDE, "x"), "w").write("x")
"reached"
