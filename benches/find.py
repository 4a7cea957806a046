#!/usr/bin/env python3
"""Measures the tools find_value_columns and get_dataset_info against DuckDB over the same Parquet.

    benches/find.py path/to/csv-agent [--mb 100] [--runs 7] [--shape mixed ...]

A loopback server plays a model that makes one call a round; the figure is the time from the `tool_call`
event to the `tool_result` event as they come out of the pipe, in a process that has read the file for the
first time (page cache warm). DuckDB runs in process with a warm connection and its metadata cache, on the
better of two statements: all columns in one scan, or a count for each column that can hold the value.
`as is` is DuckDB comparing text as it stands, which answers less: no other case, no blanks around it.
Medians of all runs. A different answer is an error. Everything is kept under the same cache directory as
the other benches use.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from ingest import CACHE, make, peers_python
from model import environment, serve, tool_results

# How a value is called, its column, and which: that of a row, changed a little, or a literal.
CASES = {
    "narrow": [
        ("int, sorted, first row", "id", "first"),
        ("int, sorted, last row, as 7.0", "id", "last", "{}.0"),
        ("int, repeated", "a", "last"),
        ("int, first row", "b", "first"),
        ("int, last row", "b", "last"),
        ("int, absent", "123456789"),
        ("int, out of range", "-5"),
        ("float, last row", "x", "last"),
        ("float, absent", "0.1234567"),
        ("text, no such column", "Berlin"),
    ],
    "mixed": [
        ("int, sorted, last row", "order_id", "last"),
        ("int, few distinct, as 7.0", "7.0"),
        ("float, last row", "price", "last"),
        ("code with a zero in front", "zip", "first"),
        ("text, few distinct", "city", "last"),
        ("text, other case, blanks", " mÜNCHEN "),
        ("text, many distinct, first row", "customer", "first"),
        ("text, many distinct, last row", "customer", "last"),
        ("text, absent", "customer 200001"),
        ("text, absent, not like the others", "anvil"),
        ("date", "ordered", "last"),
        ("date, absent", "2009-12-31"),
        ("timestamp, last row", "shipped_at", "last"),
        ("timestamp, absent", "2017-05-29 10:00:00"),
        ("bool", "true"),
    ],
    "wide": [
        ("int, last row", "c5", "last"),
        ("int, absent", "100001"),
        ("float, last row", "c150", "last"),
        ("float, absent", "0.12345"),
        ("text, few distinct", "c199", "last"),
        ("text, absent", "Rostock"),
    ],
    "text": [
        ("int, sorted, last row", "id", "last"),
        ("text, short, first row", "title", "first"),
        ("text, short, last row", "title", "last"),
        ("text, long, last row", "body", "last"),
        ("text, absent", "the quick brown fox"),
    ],
}

# Reads requests as JSON lines: {"open": path}, {"pick": [column, which]}, {"find": value}, {"info": true}.
PEER = r"""
import datetime, decimal, json, sys, time
import duckdb

db = duckdb.connect()
for setting in ["enable_object_cache", "parquet_metadata_cache"]:
    try:
        db.execute(f"set {setting} = true")
    except duckdb.Error:
        pass
db.execute("set TimeZone = 'UTC'")
db.execute("set enable_progress_bar = false")

def name(it):
    return '"' + it.replace('"', '""') + '"'

def text(it):
    return "'" + it.replace("'", "''") + "'"

def moment(value, dtype):
    # A time of day is no part of a date.
    cast = f"try_cast({text(value)} as timestamp)"
    cast = cast if dtype == "TIMESTAMP" else f"case when {cast} = date_trunc('day', {cast}) then {cast}::date end"
    found = db.execute(f"select ({cast})::varchar").fetchall()[0][0]
    return found and f"{text(found)}::{dtype}"

def predicates(value, exact):
    value = value.strip()
    try:
        number = decimal.Decimal(value)
    except decimal.InvalidOperation:
        number = None
    for column, dtype in columns:
        if dtype == "BIGINT" and number is not None and number == number.to_integral_value():
            yield column, f"{name(column)} = {int(number)}"
        elif dtype == "DOUBLE" and number is not None:
            yield column, f"{name(column)} = {float(number)!r}::double"
        elif dtype == "BOOLEAN" and value.lower() in ("true", "false"):
            yield column, f"{name(column)} = {value}"
        elif dtype in ("DATE", "TIMESTAMP") and "-" in value and (literal := moment(value, dtype)):
            yield column, f"{name(column)} = {literal}"
        elif dtype == "VARCHAR" and exact:
            yield column, f"{name(column)} = {text(value)}"
        elif dtype == "VARCHAR":
            yield column, f"lower(trim({name(column)})) = {text(value.lower())}"

def one_scan(wanted):
    counts = ", ".join(f"count(*) filter (where {it})" for _, it in wanted)
    row = db.execute(f"select {counts} from {table}").fetchall()[0]
    return {column: count for (column, _), count in zip(wanted, row) if count}

def by_column(wanted):
    parts = [f"select {text(column)}, count(*) from {table} where {it}" for column, it in wanted]
    return {column: count for column, count in db.execute(" union all ".join(parts)).fetchall() if count}

def schema():
    n_rows = db.execute(f"select sum(num_rows) from parquet_file_metadata({source})").fetchall()[0][0]
    nulls = db.execute(f"select path_in_schema, sum(stats_null_count) from parquet_metadata({source}) group by all").fetchall()
    found = db.execute(f"describe select * from {table}").fetchall()
    return {"rows": n_rows, "columns": len(found), "nulls": sum(it[1] for it in nulls)}

def timed(function, *arguments):
    start = time.perf_counter()
    answer = function(*arguments)
    return (time.perf_counter() - start) * 1000, answer

for line in sys.stdin:
    request = json.loads(line)
    if "open" in request:
        source = text(request["open"])
        table = f"read_parquet({source})"
        columns = [it[:2] for it in db.execute(f"describe select * from {table}").fetchall()]
        n_rows = db.execute(f"select count(*) from {table}").fetchall()[0][0]
        answer = None
    elif "pick" in request:
        column, which = request["pick"]
        at = 0 if which == "first" else n_rows - 1
        answer = db.execute(f"select {name(column)}::varchar from {table} limit 1 offset {at}").fetchall()[0][0]
    elif "find" in request:
        wanted, exact = list(predicates(request["find"], False)), list(predicates(request["find"], True))
        answer = {"one_scan": [0, {}], "by_column": [0, {}], "as_is": [0, {}]}
        if wanted:
            answer = {"one_scan": timed(one_scan, wanted), "by_column": timed(by_column, wanted),
                      "as_is": min(timed(by_column, exact), timed(one_scan, exact), key=lambda it: it[0])}
    else:
        answer = timed(schema)
    print(json.dumps(answer), flush=True)
"""


class Peer:
    def __init__(self):
        self.process = subprocess.Popen(
            [peers_python(), "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def turn(binary, env, cwd, session):
    """Runs a turn; returns (milliseconds, result) of each tool call."""
    command = [binary, "ask", "-q", "--format", "jsonl", "--fresh", "--max-rounds", "200", "--session-dir", session, "q"]
    process = subprocess.Popen(
        command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [(seconds * 1000, result) for seconds, result in tool_results(process)]


def ingest(binary, path, session):
    subprocess.run([binary, "ingest", "-q", "--session-dir", session, "--max-bytes", "4GB", path],
                   check=True, stdout=subprocess.DEVNULL)
    return next((session / "datasets").glob("*.parquet"))


def measure(binary, shape, n_mb, runs, session):
    path = make(shape, n_mb)
    parquet = ingest(binary, path, session)
    parquet.read_bytes()
    dataset = parquet.stem
    peer = Peer()
    peer.ask(open=str(parquet))
    values = []
    for label, *how in CASES[shape]:
        value = how[0] if len(how) == 1 else peer.ask(pick=how[:2])
        values.append((label, how[2].format(value) if len(how) == 3 else value))
    calls = [("get_dataset_info", {"name": dataset})]
    calls += [("find_value_columns", {"name": dataset, "value": value}) for _, value in values]
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as home, serve(calls) as url:
        env = environment(home, url)
        for _ in range(runs):
            ours.append(turn(binary, env, home, session))
            theirs.append([peer.ask(info=True)] + [peer.ask(find=value) for _, value in values])
    peer.process.stdin.close()
    # DuckDB's first run warms its connection.
    theirs = theirs[1:] or theirs

    def median(pick):
        return statistics.median(pick(it) for it in theirs)

    our_ms = statistics.median(it[0][0] for it in ours)
    their_ms = median(lambda it: it[0][0])
    print(f"| {shape} | get_dataset_info | | {our_ms:.2f} | {their_ms:.2f} | {our_ms / their_ms:.2f} | |")
    for at, (label, value) in enumerate(values, 1):
        our_ms = statistics.median(it[at][0] for it in ours)
        one_scan, by_column, as_is = (median(lambda it: it[at][key][0]) for key in ("one_scan", "by_column", "as_is"))
        found = {it["column"]: it["count"] for it in ours[0][at][1]["columns"]}
        expected = theirs[0][at]["one_scan"][1]
        if found != expected:
            sys.exit(f"{shape}, {label}: `{value}` is found in {found}, DuckDB says {expected}")
        their_ms = min(one_scan, by_column)
        ratio = f"{our_ms / their_ms:.2f}" if their_ms else ""
        print(f"| {shape} | {label} | {sum(found.values())} | {our_ms:.2f} | {their_ms:.2f} | {ratio} | {as_is:.2f} |", flush=True)
    return parquet.stat().st_size / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--shape", action="append", choices=CASES)
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    print("| file | value | rows | csv-agent ms | DuckDB ms | ratio | as is ms |")
    print("|---|---|--:|--:|--:|--:|--:|")
    sizes = {}
    for shape in options.shape or CASES:
        with tempfile.TemporaryDirectory(dir=CACHE) as session:
            sizes[shape] = measure(
                os.path.abspath(options.csv_agent), shape, options.mb, options.runs, CACHE / session)
    print("\nParquet MB: " + ", ".join(f"{shape} {size:.1f}" for shape, size in sizes.items()))


if __name__ == "__main__":
    main()
