#!/usr/bin/env python3
"""Ten questions about data of a Spark cluster, through csv-agent and through plain PySpark.

    benches/remote.py path/to/csv-agent [--gb 20] [--runs 1] [--server-python PYTHON]

Generates that many GB, most of it as Parquet and a part as CSV, the same in every run; starts a Spark Connect
server on this machine; registers both with `ingest --remote`. A loopback server plays a model that runs one
job a round. The same jobs run in Spark's own client, in a process of its own, against the same server and in
alternation with ours, each first in turn: who is first reads the files from the disk, so two runs are fair to
each job. A figure is the time from the `tool_call` event to the `tool_result` event, or of the job in the plain
client. Another answer is an error. Memory is the peak (VmHWM) of the largest process that csv-agent started,
after each job.

PYTHON has `pyspark` and what its client needs; `tests/servers/install-spark` makes one. Everything is kept
under the same cache directory as the other benches use.
"""

import argparse
import contextlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from ingest import CACHE
from model import cache_home, environment, serve, tool_results

CSV_SHARE = 0.15
PARQUET_ROW_BYTES, CSV_ROW_BYTES = 28.5, 45.2  # as they come out
ROWS_A_FILE = 4_000_000
START_S = 120

# Makes one directory of files: kind, target bytes, directory.
MAKE = r"""
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import numpy as np
import pyarrow as pa, pyarrow.csv, pyarrow.parquet

kind, n_rows, rows_a_file, target = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
VENDORS = pa.array(["Ace", "Blue, Inc.", "Crown \"X\"", "Dörr", "Ébène"])
KINDS = pa.array(["view", "click", "buy, later", "buy", "return", "höher"])
FIRST = np.datetime64("2021-01-01T00:00:00", "us")

def trips(chance, first, n):
    seconds = chance.integers(0, 3 * 365 * 86_400, n).astype("timedelta64[s]")
    fare = np.round(chance.gamma(2.0, 9.0, n), 2)
    return pa.table({
        "id": np.arange(first, first + n),
        "started": pa.array(FIRST + seconds, pa.timestamp("us", "UTC")),
        "vendor": VENDORS.take(pa.array(chance.integers(0, 5, n))),
        "zone_from": pa.array(chance.zipf(1.4, n) % 263, pa.int32()),
        "zone_to": pa.array(chance.integers(0, 263, n), pa.int32()),
        "distance": chance.gamma(1.5, 2.0, n),
        "fare": pa.array(fare, mask=chance.random(n) < 0.03),
        "tip": chance.random(n) * 5,
        "passengers": pa.array(chance.integers(1, 7, n), pa.int8()),
    })

def events(chance, first, n):
    days = chance.integers(0, 900, n).astype("timedelta64[D]")
    return pa.table({
        "id": np.arange(first, first + n),
        "day": pa.array((np.datetime64("2021-01-01") + days).astype("datetime64[D]")),
        "kind": KINDS.take(pa.array(chance.integers(0, 6, n))),
        "amount": pa.array(np.round(chance.gamma(2.0, 40.0, n), 2), mask=chance.random(n) < 0.05),
        "count": chance.integers(1, 1000, n),
        "ratio": np.round(chance.random(n), 6),
    })

def write(at):
    n = min(rows_a_file, n_rows - at * rows_a_file)
    table = globals()[kind](np.random.default_rng([7, at]), at * rows_a_file, n)
    if kind == "trips":
        pa.parquet.write_table(table, target / f"part-{at:05d}.parquet", compression="zstd", compression_level=1)
    else:
        pa.csv.write_csv(table, target / f"part-{at:05d}.csv")

with ThreadPoolExecutor(2) as pool:
    list(pool.map(write, range(-(-n_rows // rows_a_file))))
"""

# The client beside: reads JSON lines with code, and says how long it took and what it printed.
PLAIN = r"""
import contextlib, io, json, sys, time, warnings
warnings.simplefilter("ignore")
import pandas as pd
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.conf.set("spark.sql.session.timeZone", "UTC")
schema = "id bigint, day date, kind string, amount double, count bigint, ratio double"
sources = {"trips": spark.read.parquet(sys.argv[2]),
           "events": spark.read.csv(sys.argv[3], schema=schema, header=True, escape='"')}
names = {"spark": spark, "pd": pd, "load": sources.get}
out = sys.stdout
for line in sys.stdin:
    printed, start = io.StringIO(), time.perf_counter()
    with contextlib.redirect_stdout(printed):
        exec(json.loads(line), names)
    print(json.dumps([time.perf_counter() - start, printed.getvalue()]), file=out, flush=True)
"""

BEGIN = """
import json
from pyspark.sql import functions as F, Window as W
trips, events = load("trips"), load("events")
def tell(it):
    print(json.dumps(it.toPandas().astype(object).values.tolist()))
tell(trips.limit(1000).agg(F.count("*")))
"""

JOBS = {
    "rows": 'tell(trips.agg(F.count("*")))',
    "fares by vendor": 'tell(trips.groupBy("vendor").agg(F.sum("fare")).orderBy("vendor"))',
    "mean distance by hour": """
hour = F.hour("started").alias("hour")
tell(trips.groupBy(hour).agg(F.avg("distance")).orderBy("hour"))""",
    "ten busiest pairs of zones": """
n = trips.groupBy("zone_from", "zone_to").agg(F.count("*").alias("n"))
tell(n.orderBy(F.desc("n"), "zone_from", "zone_to").limit(10))""",
    "distinct days by vendor": """
tell(trips.groupBy("vendor").agg(F.countDistinct(F.to_date("started"))).orderBy("vendor"))""",
    "missing fares by month": """
month = F.date_format("started", "yyyy-MM").alias("month")
tell(trips.groupBy(month).agg(F.count_if(F.col("fare").isNull())).orderBy("month"))""",
    "tips by borough, joined": """
zones = spark.createDataFrame(pd.DataFrame({"zone_to": range(263), "borough": [f"b{it % 7}" for it in range(263)]}))
tell(trips.join(zones, "zone_to").groupBy("borough").agg(F.avg("tip")).orderBy("borough"))""",
    "best zone of each vendor": """
total = trips.where("passengers > 1").groupBy("vendor", "zone_from").agg(F.sum("fare").alias("fare"))
place = F.row_number().over(W.partitionBy("vendor").orderBy(F.desc("fare")))
tell(total.withColumn("place", place).where("place = 1").orderBy("vendor"))""",
    "CSV: amounts by kind": 'tell(events.groupBy("kind").agg(F.sum("amount"), F.count("amount")).orderBy("kind"))',
    "CSV: large ones by month": """
month = F.date_format("day", "yyyy-MM").alias("month")
found = events.where("amount > 100 and ratio < 0.5")
tell(found.groupBy(month).agg(F.count("*"), F.avg("count")).orderBy("month"))""",
}


def make(python, n_gb):
    """Generates the data where it is not there yet. Returns the two directories."""
    places = []
    for kind, share, row_bytes in (("trips", 1 - CSV_SHARE, PARQUET_ROW_BYTES), ("events", CSV_SHARE, CSV_ROW_BYTES)):
        target = CACHE / f"remote-{n_gb:g}gb" / kind
        if not (target / "_done").exists():
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            n_rows = int(n_gb * 1e9 * share / row_bytes)
            subprocess.run([python, "-c", MAKE, kind, str(n_rows), str(ROWS_A_FILE), target], check=True)
            (target / "_done").touch()
        places.append(target)
    return places


def size_of(directory):
    return sum(it.stat().st_size for it in directory.iterdir())


@contextlib.contextmanager
def cluster(python, memory, home):
    """Starts a server on this machine; yields its URL."""
    found = [python, "-c", "import importlib.util as it; print(it.find_spec('pyspark').submodule_search_locations[0])"]
    package = subprocess.run(found, check=True, capture_output=True, text=True).stdout.strip()
    settings = {"spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": "0",
                "spark.ui.enabled": "false", "spark.local.dir": home, "spark.sql.warehouse.dir": f"{home}/tables"}
    command = [f"{package}/bin/spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
               "--master", "local[*]", "--driver-memory", memory, "--driver-java-options", f"-Djava.io.tmpdir={home}"]
    command += [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")] + ["spark-internal"]
    log = Path(home, "log")
    with open(log, "w") as out:
        env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        server = subprocess.Popen(command, env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        until = time.monotonic() + START_S
        while not (port := re.search(r"Spark Connect server started at: 127.0.0.1:(\d+)", log.read_text())):
            if until < time.monotonic() or server.poll() is not None:
                sys.exit(f"the server did not start:\n{log.read_text()}")
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{port[1]}"
    finally:
        server.kill()
        server.wait()


class Plain:
    def __init__(self, python, url, trips, events):
        command = [python, "-c", PLAIN, url, str(trips), f"{events}/*.csv"]
        env = {it: value for it, value in os.environ.items() if not it.startswith("SPARK_")}
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, code):
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else sys.exit(f"the plain client failed:\n{code}")


class Alternating(list):
    """The calls of a turn. Before each is made, the plain client runs what is due: its own job of the same
    kind where it is the first, its job of the kind before where that was the second. The next run turns
    that round."""

    def __init__(self, codes, plain, run):
        super().__init__([("python_repl", {"code": code}) for code in codes])
        self.codes, self.plain, self.run, self.done = codes, plain, run, []

    def __getitem__(self, at):
        self.run_to(at if (at + self.run) % 2 else at + 1)
        return super().__getitem__(at)

    def run_to(self, end):
        while len(self.done) < min(end, len(self.codes)):
            self.done.append(self.plain.run(self.codes[len(self.done)]))


class Memory(threading.Thread):
    """Watches the processes that a process starts: the peak of the largest."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak_kb, self.is_on = pid, 0, True
        self.start()

    def run(self):
        while self.is_on:
            self.peak_kb = max([self.peak_kb, *map(self.peak_of, self.descendants(self.pid))])
            time.sleep(0.1)

    def descendants(self, pid):
        try:
            children = [int(it) for task in Path(f"/proc/{pid}/task").iterdir()
                        for it in (task / "children").read_text().split()]
        except OSError:
            return []
        return children + [it for child in children for it in self.descendants(child)]

    @staticmethod
    def peak_of(pid):
        try:
            found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
        except OSError:
            return 0
        return int(found[1]) if found else 0


def printed(result):
    """Returns what a call printed, as JSON."""
    text = next((result[it] for it in ("stdout", "text") if isinstance(result.get(it), str)), None)
    return text if text is not None else sys.exit(f"a job printed nothing: {result}")


def turn(binary, env, home, session):
    """Runs a turn; returns (seconds, printed, peak MB) of each job."""
    command = [binary, "ask", "-q", "--format", "jsonl", "--fresh", "--max-rounds", "50", "--tool-timeout", "2h",
               "--timeout", "24h", "--session-dir", session, "q"]
    process = subprocess.Popen(command, env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    memory = Memory(process.pid)
    results = [(seconds, printed(result), memory.peak_kb / 1000) for seconds, result in tool_results(process)]
    memory.is_on = False
    return results


def is_same(ours, theirs):
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(is_same, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=1e-9)
    return ours == theirs


def measure(binary, plain, runs, home, session):
    """Returns (name, our seconds, their seconds, peak MB) of each job of each run."""
    codes = [BEGIN, *JOBS.values()]
    told = []
    for run in runs:
        calls = Alternating(codes, plain, run)
        with serve(calls, first_s=0.0) as url:
            ours = turn(binary, environment(home, url), home, session)
        calls.run_to(len(codes))
        for name, (our_s, our_text, peak_mb), (their_s, their_text) in zip(JOBS, ours[1:], calls.done[1:]):
            if not is_same(json.loads(our_text), json.loads(their_text)):
                sys.exit(f"{name}: csv-agent says {our_text}, plain PySpark says {their_text}")
            told.append((name, our_s, their_s, peak_mb))
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--gb", type=float, default=20)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--memory", default="4g", help="of the server")
    parser.add_argument("--server-python", default=f"{cache_home()}/csv-agent-servers/spark/bin/python")
    options = parser.parse_args()
    binary = os.path.abspath(options.csv_agent)
    CACHE.mkdir(parents=True, exist_ok=True)
    trips, events = make(options.server_python, options.gb)
    with (tempfile.TemporaryDirectory(dir=CACHE) as home, tempfile.TemporaryDirectory(dir=CACHE) as session,
          cluster(options.server_python, options.memory, home) as url):
        start = time.perf_counter()
        env = environment(home, "http://127.0.0.1:9/v1")
        command = [binary, "ingest", "-q", "--session-dir", session, "--remote", url, f"trips={trips}/*.parquet",
                   f"events={events}/*.csv"]
        subprocess.run(command, env=env, cwd=home, check=True, stdout=subprocess.DEVNULL)
        registered_s = time.perf_counter() - start
        plain = Plain(options.server_python, url, trips, events)
        told = measure(binary, plain, range(options.runs), home, session)
        plain.process.stdin.close()
        plain.process.wait()
    print(f"{size_of(trips) / 1e9:.2f} GB Parquet, {size_of(events) / 1e9:.2f} GB CSV; registered in {registered_s:.1f} s\n")
    print("| job | csv-agent s | plain s | ratio | worker peak MB |\n|---|--:|--:|--:|--:|")
    for name in JOBS:
        of_job = [it for it in told if it[0] == name]
        our_s, their_s = (statistics.median(it[at] for it in of_job) for at in (1, 2))
        peak_mb = max(it[3] for it in of_job)
        print(f"| {name} | {our_s:.2f} | {their_s:.2f} | {our_s / their_s:.2f} | {peak_mb:.0f} |")
    our_s, their_s = (sum(it[at] for it in told) for at in (1, 2))
    print(f"\nall: {our_s:.1f} s and {their_s:.1f} s, ratio {our_s / their_s:.3f}")


if __name__ == "__main__":
    main()
