#!/usr/bin/env python3
"""Measures `csv-agent query` and `describe` against DuckDB and Polars: twelve statements like those of TPC-H.

    benches/query.py PATH/TO/csv-agent [--mb 10 100] [--runs 3] [--only NAME…] [--source parquet|csv]

Makes three tables once (`lines`, `orders`, `customers`: so many MB of CSV together) and ingests them. Each statement
runs over the Parquet files of ingest, and over the CSV files, where csv-agent reads the tables of the statement with
`-f`. The answers of all readers are compared first: the script ends with 1 when csv-agent's differ from DuckDB's.
Then every reader runs as its own process, interleaved, page cache warm. Prints a markdown table: best seconds of
all runs, peak RSS in MB of the largest process, ratio to DuckDB's command line.

What the peers do: DuckDB and Polars decide types from the first rows of a CSV file and read only the columns
that a statement needs; csv-agent looks at every value, and makes Parquet first. DuckDB's command line is a package
of the virtual environment as well, `duckdb-cli`, which may be older than `duckdb`. Polars runs the same SQL where it
takes it. `describe` is compared with DuckDB's SUMMARIZE, and with `qsv stats --everything` where there is a qsv.
"""

import argparse
import csv
import math
import os
import random
import shutil
import subprocess
import sys
import time

from ingest import CACHE, peers_python

TABLES = ["lines", "orders", "customers"]

# name → statement, the tables it reads
STATEMENTS = {
    "pricing": """
        select status, mode, sum(quantity) as quantity, sum(price * (1 - discount)) as revenue,
               avg(discount) as discount, count(*) as n
        from lines where shipped <= date '2024-09-02' group by status, mode order by status, mode""",
    "forecast": """
        select sum(price * discount) as revenue from lines
        where shipped >= date '2023-01-01' and shipped < date '2024-01-01'
          and discount between 0.05 and 0.07 and quantity < 24""",
    "many groups": """
        select part, count(*) as n, sum(quantity) as quantity, max(price) as price
        from lines group by part order by quantity desc, part limit 20""",
    "three joined": """
        select o.order_id, o.ordered, sum(l.price * (1 - l.discount)) as revenue
        from customers c join orders o on c.customer = o.customer join lines l on l.order_id = o.order_id
        where c.segment = 'building' and o.ordered < date '2023-06-15' and l.shipped > date '2023-06-15'
        group by o.order_id, o.ordered order by revenue desc, o.order_id limit 10""",
    "joined, few groups": """
        select c.country, count(*) as n, sum(l.price) as revenue
        from lines l join orders o on l.order_id = o.order_id join customers c on c.customer = o.customer
        group by c.country order by c.country""",
    "semi join": """
        select priority, count(*) as n from orders
        where ordered >= date '2023-01-01'
          and order_id in (select order_id from lines where mode = 'air' and quantity > 40)
        group by priority order by priority""",
    "top": "select * from lines order by price desc, order_id, line limit 100",
    "distinct": """
        select count(distinct part) as parts, count(distinct order_id) as orders, count(distinct comment) as comments
        from lines""",
    "rank": """
        select mode, place, price, order_id from (
          select mode, price, order_id,
                 row_number() over (partition by mode order by price desc, order_id, line) as place from lines
        ) as ranked where place <= 3 order by mode, place""",
    "running sum": """
        select max(running) as highest, avg(running) as usual from (
          select sum(quantity) over (partition by part order by shipped, order_id, line
                                     rows unbounded preceding) as running from lines) as sums""",
    "text": """
        select upper(left(comment, 8)) as beginning, count(*) as n
        from lines where comment like '%ring%' and lower(mode) <> 'rail'
        group by upper(left(comment, 8)) order by n desc, beginning limit 20""",
    "months": """
        select extract(year from shipped) as y, extract(month from shipped) as m, count(*) as n, avg(price) as price
        from lines group by extract(year from shipped), extract(month from shipped) order by y, m""",
}

WORDS = "call first leave at door ring twice fragile keep dry no returns gift wrap see invoice hold for pickup".split()
MODES = ["air", "rail", "road", "sea", "mail", "courier", "pickup"]
SEGMENTS = ["building", "household", "machinery", "furniture", "automobile"]
COUNTRIES = ["AT", "BR", "CA", "CH", "CN", "DE", "ES", "FR", "GB", "IN", "IT", "JP", "KR", "MX", "NL", "PL", "SE", "US"]
LINE_BYTES = 98
LINES_OF_ORDER = 4
ORDERS_OF_CUSTOMER = 10


def day(rng, year):
    return f"{year + rng.randrange(4)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"


def lines(rng, n_lines):
    yield "order_id,line,part,quantity,price,discount,shipped,mode,status,comment\n"
    for at in range(n_lines):
        yield (
            f"{100000 + at // LINES_OF_ORDER},{at % LINES_OF_ORDER + 1},{rng.randrange(n_lines // 30 + 1)},"
            f"{rng.randrange(1, 51)},{rng.randrange(100, 9999999) / 100:.2f},{rng.randrange(11) / 100:.2f},"
            f"{day(rng, 2022)},{rng.choice(MODES)},{rng.choice('ANR')},{' '.join(rng.choices(WORDS, k=6))}\n"
        )


def orders(rng, n_lines):
    yield "order_id,customer,ordered,priority,clerk\n"
    n_customers = n_lines // LINES_OF_ORDER // ORDERS_OF_CUSTOMER + 1
    for at in range(n_lines // LINES_OF_ORDER + 1):
        yield (
            f"{100000 + at},{rng.randrange(n_customers)},{day(rng, 2021)},"
            f"{rng.choice(['1-urgent', '2-high', '3-medium', '4-low'])},Clerk#{rng.randrange(1000):09}\n"
        )


def customers(rng, n_lines):
    yield "customer,name,segment,country\n"
    for at in range(n_lines // LINES_OF_ORDER // ORDERS_OF_CUSTOMER + 1):
        yield f"{at},Customer#{at:09},{rng.choice(SEGMENTS)},{rng.choice(COUNTRIES)}\n"


def make(n_mb):
    """Returns the directory of the CSV files."""
    folder = CACHE / f"query-{n_mb}"
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for generate in [lines, orders, customers]:
            with open(part / f"{generate.__name__}.csv", "w", encoding="utf-8") as file:
                file.writelines(generate(random.Random(7), n_mb * 1_000_000 // LINE_BYTES))
        part.rename(folder)
    return folder


DUCKDB = """
import duckdb, sys
*views, statement = sys.argv[1:]
for view in views:
    duckdb.execute(view)
duckdb.sql(statement).write_csv("/dev/stdout")
"""

POLARS = """
import polars, sys
*tables, statement = sys.argv[1:]
frames = {}
for table in tables:
    name, path = table.split("=", 1)
    is_parquet = path.endswith(".parquet")
    frames[name] = polars.scan_parquet(path) if is_parquet else polars.scan_csv(path, try_parse_dates=True)
context = polars.SQLContext(frames)
sys.stdout.write(context.execute(statement).collect(engine="streaming").write_csv())
"""


def commands(csv_agent, python, session, folder, source, statement):
    """Returns the command of each reader; each writes its answer to stdout as CSV."""
    used = [it for it in TABLES if f"from {it}" in statement or f"join {it}" in statement]
    if source == "parquet":
        paths = {it: session / "datasets" / f"{it}.parquet" for it in used}
        ours = ["-S", session]
    else:
        paths = {it: folder / f"{it}.csv" for it in used}
        ours = [part for path in paths.values() for part in ["-f", path]]
    views = [f"create view {name} as select * from '{path}';" for name, path in paths.items()]
    return {
        "csv-agent": [csv_agent, "query", "--no-config", "-q", *ours, "--format", "csv", statement],
        "duckdb": [python.parent / "duckdb", "-csv", "-c", " ".join(views), "-c", statement],
        "duckdb, Python": [python, "-c", DUCKDB, *views, statement],
        "polars, Python": [python, "-c", POLARS, *(f"{it}={path}" for it, path in paths.items()), statement],
    }


def answer(command):
    """Returns the rows of an answer, header first, or None when the reader refuses."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return list(csv.reader(ran.stdout.splitlines())) if ran.returncode == 0 else None


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return None


def same(one, other):
    """Whether two answers have the same values; sums of floats may differ in their last digits."""
    if [len(row) for row in one] != [len(row) for row in other]:
        return False
    pairs = [pair for rows in zip(one, other) for pair in zip(*rows)]
    for a, b in pairs:
        x, y = number(a), number(b)
        if a != b and (x is None or y is None or not math.isclose(x, y, rel_tol=1e-9)):
            return False
    return True


def check(name, readers):
    """Removes peers that refuse the statement or mean another thing by it; ends when csv-agent and DuckDB differ."""
    answers = {reader: answer(command) for reader, command in readers.items()}
    expected = answers["duckdb"]
    if expected is None or len(expected) < 2:
        sys.exit(f"{name}: DuckDB has no answer")
    failed = {}
    for reader, rows in answers.items():
        if rows is None:
            failed[reader] = "refuses"
        elif not same(rows, expected):
            failed[reader] = "differs"
    if "csv-agent" in failed:
        sys.exit(f"{name}: csv-agent {failed['csv-agent']}: {answers['csv-agent']} instead of {expected}")
    return failed


def peak_mb(pid):
    """Returns the peak RSS in MB of the largest of a process and what it has started, as far as they are there."""
    try:
        with open(f"/proc/{pid}/status") as file:
            lines = [it.split() for it in file if it.startswith("VmHWM:")]
        peaks = [int(lines[0][1]) / 1024] if lines else [0]
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                peaks += map(peak_mb, file.read().split())
        return max(peaks)
    except OSError:
        return 0


def run(command):
    """Returns seconds and peak RSS in MB of the largest process, or None when the command fails.

    The peak is looked at every two milliseconds: csv-agent does not wait for the engine that has answered.
    """
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, peak_mb(process.pid))
        time.sleep(0.002)
    seconds = time.perf_counter() - start
    return (seconds, peak) if process.returncode == 0 else None


def measure(what, readers, failed, runs):
    """Prints a row for each reader: best of all runs, interleaved."""
    best = {}
    for _ in range(runs):
        for reader, command in readers.items():
            result = None if reader in failed else run(command)
            if result and (reader not in best or result < best[reader]):
                best[reader] = result
    for reader in readers:
        if reader not in best:
            print(f"| {what} | {reader} | {failed.get(reader, 'fails')} | | |")
            continue
        seconds, rss = best[reader]
        ratio = f"{seconds / best['duckdb'][0]:.2f}" if "duckdb" in best else ""
        print(f"| {what} | {reader} | {seconds:.2f} | {rss:.0f} | {ratio} |", flush=True)
    return {reader: seconds for reader, (seconds, _) in best.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--mb", type=int, nargs="+", default=[10, 100], help="MB of CSV of the three tables")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*STATEMENTS, "describe"], metavar="NAME")
    parser.add_argument("--source", choices=["parquet", "csv"], nargs="+", default=["parquet", "csv"])
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    python = peers_python()
    duckdb = python.parent / "duckdb"
    if not duckdb.exists():
        subprocess.run([python, "-m", "pip", "install", "-q", "duckdb-cli"], check=True)
    names = options.only or [*STATEMENTS, "describe"]

    print("| what | reader | s | peak MB | to DuckDB |")
    print("|---|---|--:|--:|--:|")
    for n_mb in options.mb:
        folder, session = make(n_mb), CACHE / f"query-{n_mb}-session"
        if not session.exists():
            files = [folder / f"{it}.csv" for it in TABLES]
            command = [options.csv_agent, "ingest", "-q", "--session-dir", session, "--max-bytes", "100GB", *files]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for path in [*folder.glob("*.csv"), *session.glob("datasets/*.parquet")]:
            path.read_bytes()
        for source in options.source:
            total = {}
            for name in names:
                if name == "describe":
                    continue
                statement = " ".join(STATEMENTS[name].split())
                readers = commands(options.csv_agent, python, session, folder, source, statement)
                failed = check(name, readers)
                seconds = measure(f"{n_mb} MB, {source}: {name}", readers, failed, options.runs)
                for reader in ["csv-agent", "duckdb", "duckdb, Python"]:
                    total[reader] = total.get(reader, 0) + seconds[reader]
            for reader, seconds in total.items():
                print(f"| **{n_mb} MB, {source}: sum** | {reader} | {seconds:.2f} | | {seconds / total['duckdb']:.2f} |")
            if "describe" in names:
                path = folder / "lines.csv" if source == "csv" else session / "datasets" / "lines.parquet"
                ours = [path] if source == "csv" else ["-S", session, "lines"]
                readers = {
                    "csv-agent": [options.csv_agent, "describe", "--no-config", "-q", *ours],
                    "duckdb": [duckdb, "-c", f"summarize from '{path}'"],
                }
                if source == "csv" and shutil.which("qsv"):
                    readers["qsv stats --everything"] = ["qsv", "stats", "--everything", path]
                measure(f"{n_mb} MB, {source}: describe lines", readers, {}, options.runs)
    print(f"\nfiles in {CACHE}")


if __name__ == "__main__":
    main()
