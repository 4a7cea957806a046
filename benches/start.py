#!/usr/bin/env python3
"""What it costs to start: whole processes, from spawn to exit, each in turn with its peer.

    benches/start.py path/to/csv-agent [runs]

The peer is the start of a bare Python interpreter, which every other reader of this comparison pays.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time


def timed(command, cwd):
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


def main():
    binary = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 21
    with tempfile.TemporaryDirectory() as cwd:
        with open(os.path.join(cwd, "t.csv"), "w") as file:
            file.write("a,b\n1,2\n3,4\n")
        subprocess.run([binary, "ingest", "-q", "t.csv"], cwd=cwd, check=True, capture_output=True)
        commands = {
            "csv-agent --version": [binary, "--version"],
            "csv-agent datasets": [binary, "datasets"],
            "python3 -I -S -c pass": [sys.executable, "-I", "-S", "-c", "pass"],
        }
        times = {name: [] for name in commands}
        for _ in range(runs):
            for name, command in commands.items():
                times[name].append(timed(command, cwd))
    peer = statistics.median(times["python3 -I -S -c pass"])
    print("| | median ms | max ms | to the peer |\n|---|--:|--:|--:|")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"| `{name}` | {median:.1f} | {max(values):.1f} | {median / peer:.2f} |")


if __name__ == "__main__":
    main()
