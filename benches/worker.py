#!/usr/bin/env python3
"""Measures what the confinement of Python costs, and a trivial call.

    benches/worker.py path/to/csv-agent [--runs 15]

`start`: a whole `csv-agent doctor`, which starts Python and ends it, with every layer and with none, in
turns; the difference is the confinement's. `call`: from the `tool_call` event to the `tool_result` event
of `1 + 1` in a worker that runs, median of 100.
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
from model import cache_home, environment, serve


def start_ms(binary, without):
    variables = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": cache_home(), "CSV_AGENT_SANDBOX_WITHOUT": without}
    begin = time.perf_counter()
    subprocess.run([binary, "doctor"], env=variables, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    binary = os.path.abspath(options.csv_agent)
    starts = [(start_ms(binary, ""), start_ms(binary, "namespaces,landlock,seccomp")) for _ in range(options.runs)]
    confined, bare = (statistics.median(it[at] for it in starts) for at in (0, 1))
    added = statistics.median(it[0] - it[1] for it in starts)
    print(f"start: {confined:.0f} ms confined, {bare:.0f} ms bare, {added:.1f} ms added (median of pairs)")
    with tempfile.TemporaryDirectory() as home:
        session = pathlib.Path(home, "session")
        ingest(binary, make("mixed", 1), session)
        calls = [("python_repl", {"code": f"{n} + 1"}) for n in range(101)]
        with serve(calls) as url:
            times = [it[0] for it in turn(binary, environment(home, url), home, session)]
    print(f"call: {statistics.median(times[1:]):.2f} ms")


if __name__ == "__main__":
    main()
