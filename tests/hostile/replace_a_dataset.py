# Tries to put other data in the place of a dataset.
import os
open("mine", "w").write("x")
os.replace("mine", DATASET)
"reached"
