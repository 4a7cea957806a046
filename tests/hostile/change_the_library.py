# Tries to leave code in a package for the next process.
open(pd.__file__, "a").write("#")
"reached"
