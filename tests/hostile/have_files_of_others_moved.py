# Tries to have csv-agent itself move files from elsewhere into the session.
import os
os.symlink(os.path.dirname(DATASET), ".snapshot")
report = {"kind": "saved", "kept": [], "lost": {}, "written": ["sales.parquet"], "used": ["sales.parquet"]}
load.__globals__["COMMANDS"]["save"] = lambda request: {"result": report}
1
# next process
"fine"
