# Tries to send data with a request.
import urllib.request
urllib.request.urlopen(f"http://127.0.0.1:{PORT}/data", timeout=2)
"reached"
