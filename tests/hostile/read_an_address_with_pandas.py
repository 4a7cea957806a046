# Tries to fetch through pandas.
pd.read_csv(f"http://127.0.0.1:{PORT}/data")
"reached"
