# Tries to leave a module that every Python imports.
import os, site
open(os.path.join(os.path.dirname(os.path.dirname(pd.__file__)), "x.pth"), "w").write("import os")
"reached"
