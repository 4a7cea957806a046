# Tries to go on past the deadline where no signal is seen.
sum(range(10 ** 13))
