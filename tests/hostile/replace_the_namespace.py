# Tries to take the names away that code is run with.
globals().clear()
1
# next call
"fine"
