# Tries to fill the disk or the memory of csv-agent with output.
for _ in range(3_000): print("x" * 65_536)
"fine"
