#!/usr/bin/env python3
"""Asks a question and reads the events: one JSON object a line, as they happen.

usage: read_events.py [FILE] [QUESTION]
"""

import json
import subprocess
import sys
from pathlib import Path

file = sys.argv[1] if len(sys.argv) > 1 else str(Path(__file__).with_name("orders.csv"))
question = sys.argv[2] if len(sys.argv) > 2 else "amount by region"
command = ["csv-agent", "ask", "--ephemeral", "-f", file, "--model", "builtin", "--format", "jsonl", question]

with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == "data_frame":
            print("table", event["logical_name"], event["columns"])
            for row in event["rows"]:
                print("  ", row)
        elif event["type"] == "reply":
            print("reply:", event["text"])
        elif event["type"] == "error":
            print("error:", event["message"], file=sys.stderr)
sys.exit(process.returncode)
