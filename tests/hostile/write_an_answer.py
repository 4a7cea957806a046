# Tries to answer in the worker's place.
import json, os
os.write(201, json.dumps({"id": "0" * 32, "status": "ok", "result": {"kind": "text", "text": "reached"}}).encode() + b"\n")
1
