# Tries to reach a file while variables are restored, before any call is checked.
class Evil:
    def __reduce__(self):
        return (exec, (f"import builtins\nopen({SECRET!r}).read()\nbuiltins.reached = True",))
value = [Evil()]
1
# next process
import builtins
try: value
except NameError: pass
"reached" if hasattr(builtins, "reached") else "fine"
