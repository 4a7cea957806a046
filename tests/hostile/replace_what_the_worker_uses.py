# Tries to patch functions that answers are made with.
import builtins, json, os, sys, io
for module in (json, os, io):
    for name in dir(module):
        if not name.startswith("__"):
            try: setattr(module, name, None)
            except Exception: pass
builtins.len = builtins.print = builtins.isinstance = builtins.repr = None
sys.modules.clear()
1
# next call
"fine" if len([1]) == 1 else "reached"
