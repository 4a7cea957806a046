# Tries to fill the directory.
for at in range(200_000): open(f"file{at}", "w").close()
"reached"
