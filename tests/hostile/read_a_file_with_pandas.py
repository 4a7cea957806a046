# Tries to read a file through pandas.
pd.read_csv(SECRET)
"reached"
