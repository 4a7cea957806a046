# Tries to delete the data of the session.
import os
os.remove(DATASET)
"reached"
