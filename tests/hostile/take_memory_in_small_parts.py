# Tries to take memory until Python itself has none.
kept = []
while True: kept.append([0] * 1000)
