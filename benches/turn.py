#!/usr/bin/env python3
"""What a turn costs beside the model's time and the Python code itself.

    benches/turn.py path/to/csv-agent [runs]

A loopback server plays a model: five rounds, of which four call python_repl with a trivial cell. Its
first answer takes as long as a quick model's (FIRST_S), the others none. The figure is the wall-clock
time of the whole process less that second. The peer is the smallest loop that could do the same: a
Python script that imports pandas while it waits, sends the same five requests and runs the cells.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

from model import FIRST_S, cache_home, environment, serve

ROUNDS = 5
CALLS = [("python_repl", {"code": f"x = {at}\nx + 1"}) for at in range(ROUNDS - 1)]

PEER = """
import json, sys, threading, urllib.request
started = threading.Thread(target=lambda: __import__("pandas")); started.start()
items, url = [{"type": "message", "role": "user", "content": "q"}], sys.argv[1] + "/responses"
while True:
    body = json.dumps({"model": "m", "input": items, "stream": False}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    output = json.load(urllib.request.urlopen(request))["output"]
    items += output
    calls = [it for it in output if it["type"] == "function_call"]
    if not calls:
        print(output[0]["content"][0]["text"]); break
    started.join()
    for call in calls:
        exec(json.loads(call["arguments"])["code"], {})
        items.append({"type": "function_call_output", "call_id": call["call_id"], "output": "1"})
"""


def timed(command, env, cwd):
    start = time.perf_counter()
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=60)
    seconds = time.perf_counter() - start - FIRST_S
    if done.returncode != 0 or "Done." not in done.stdout:
        sys.exit(f"{command[0]} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return seconds * 1000


def main():
    binary = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    managed = os.path.join(cache_home(), "csv-agent")
    pythons = [os.path.join(managed, it, "bin", "python") for it in sorted(os.listdir(managed)) if it.startswith("python")]
    with tempfile.TemporaryDirectory() as home, serve(CALLS) as url:
        with open(os.path.join(home, "t.csv"), "w") as file:
            file.write("a,b\n1,2\n3,4\n")
        env = environment(home, url)
        subprocess.run([binary, "ingest", "-q", "t.csv"], env=env, cwd=home, check=True, capture_output=True)
        ours = [binary, "ask", "-q", "--fresh", "How much is it?"]
        peer = [next(it for it in pythons if os.path.exists(it)), "-c", PEER, url]
        timed(ours, env, home), timed(peer, env, home)
        pairs = [(timed(ours, env, home), timed(peer, env, home)) for _ in range(runs)]
    print("| | min ms | median ms | max ms |\n|---|--:|--:|--:|")
    for name, column in (("csv-agent", 0), ("bare Python loop", 1)):
        values = [it[column] for it in pairs]
        print(f"| {name} | {min(values):.0f} | {statistics.median(values):.0f} | {max(values):.0f} |")
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"\nratio, median of {runs} pairs: {ratio:.2f}")


if __name__ == "__main__":
    main()
