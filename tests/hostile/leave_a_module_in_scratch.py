# Tries to be imported by the next process.
open("json.py", "w").write("reached = True")
open("sitecustomize.py", "w").write("import builtins; builtins.reached = True")
1
# next process
import builtins, json
"reached" if hasattr(builtins, "reached") or hasattr(json, "reached") else "fine"
