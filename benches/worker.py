#!/usr/bin/env python3
"""Measures what the confinement of Python costs, and a trivial call.

    benches/worker.py path/to/csv-agent [--runs 15]

`start`: a whole `csv-agent ask` against a model that answers at once, with every layer and with none, in
turns. `first event` is the time from its spawn to the event that says what is enforced; `Python` is the time
to the event that says that pandas is loaded, which a real model's answer hides. `call`: from the `tool_call`
event to the `tool_result` event of `1 + 1` in a worker that runs, median of 100.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from find import ingest, turn
from ingest import make
from model import environment, serve

LAYERS = "namespaces,landlock,seccomp"
MARKS = {"first event": b'"phase":"started"', "Python": b'"phase":"worker"'}


def start_ms(binary, env, home, session, without):
    command = [binary, "ask", "-q", "--format", "jsonl", "--fresh", "--session-dir", session, "q"]
    if without:
        command.insert(2, "--allow-unconfined")
    begin = time.perf_counter()
    process = subprocess.Popen(
        command, env=env | {"CSV_AGENT_SANDBOX_WITHOUT": without}, cwd=home, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = {}
    for line in process.stdout:
        for name, mark in MARKS.items():
            if mark in line:
                found[name] = (time.perf_counter() - begin) * 1000
    if process.wait() != 0 or found.keys() != MARKS.keys():
        raise SystemExit(f"csv-agent failed with {process.returncode}: {found}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    binary = os.path.abspath(options.csv_agent)
    calls = [("python_repl", {"code": f"{n} + 1"}) for n in range(101)]
    with tempfile.TemporaryDirectory() as home:
        session = pathlib.Path(home, "session")
        ingest(binary, make("mixed", 1), session)
        with serve(calls[:1], 0) as url:
            env = environment(home, url)
            starts = [[start_ms(binary, env, home, session, it) for it in ("", LAYERS)] for _ in range(options.runs)]
        with serve(calls, 0) as url:
            times = [it[0] for it in turn(binary, environment(home, url), home, session)]
    print("| start | confined ms | bare ms | added ms (median of pairs) |\n|---|--:|--:|--:|")
    for name in MARKS:
        confined, bare = (statistics.median(it[at][name] for it in starts) for at in (0, 1))
        added = statistics.median(it[0][name] - it[1][name] for it in starts)
        print(f"| {name} | {confined:.0f} | {bare:.0f} | {added:.1f} |")
    print(f"\ncall: {statistics.median(times[1:]):.2f} ms")


if __name__ == "__main__":
    main()
