# Tries to take more memory than there is.
blocks = [np.ones(10 ** 8) for _ in range(100)]
"reached"
