#!/usr/bin/env python3
"""Measures `csv-agent ingest` of many files against DuckDB and Polars: the same folders to zstd Parquet.

    benches/folders.py PATH/TO/csv-agent [--runs 3] [--small 1000] [--large 50] [--check]

Makes the folders once, runs every reader as its own process, interleaved, page cache warm, and prints a
markdown table: best seconds of all runs, peak RSS, ratio to the fastest peer. `union` joins all files by the
names of their columns, with a column that says which file a row is of; `each` makes a Parquet file of each.

What the peers do: they decide types from the first rows of each file, or of the first file; csv-agent looks at
every value of every file. csv-agent also writes its catalog and makes sure that all is on disk.

`--check` makes a folder whose files drift over the years instead (columns renamed, added and in another order,
other delimiters, encodings and number formats, the same names in several directories), joins it, and compares
every cell with what was written; then adds three files, and checks that no name has changed.
"""

import argparse
import csv
import json
import random
import shutil
import subprocess
import sys

from ingest import CACHE, mixed, peers_python, run

PEERS = {
    ("union", "duckdb"): """
import duckdb, sys
files = f"{sys.argv[1]}/**/*.csv"
query = f"from read_csv('{files}', union_by_name=true, filename=true)"
duckdb.sql(f"copy ({query}) to '{sys.argv[2]}/all.parquet' (format parquet, compression zstd)")
""",
    ("union", "polars"): """
import pathlib, polars, sys
files = sorted(pathlib.Path(sys.argv[1]).rglob("*.csv"))
frames = [polars.scan_csv(it, include_file_paths="_file") for it in files]
polars.concat(frames, how="diagonal_relaxed").sink_parquet(f"{sys.argv[2]}/all.parquet", compression="zstd")
""",
    ("each", "duckdb"): """
import duckdb, pathlib, sys
for at, path in enumerate(sorted(pathlib.Path(sys.argv[1]).rglob("*.csv"))):
    duckdb.sql(f"copy (from read_csv('{path}')) to '{sys.argv[2]}/{at}.parquet' (format parquet, compression zstd)")
""",
    ("each", "polars"): """
import pathlib, polars, sys
for at, path in enumerate(sorted(pathlib.Path(sys.argv[1]).rglob("*.csv"))):
    polars.scan_csv(path).sink_parquet(f"{sys.argv[2]}/{at}.parquet", compression="zstd")
""",
}


def folder(name, n_files, n_rows):
    """Files of orders in ten directories; every third lacks the first column."""
    path = CACHE / f"{name}-{n_files}-{n_rows}"
    if not path.exists():
        part = path.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        rng = random.Random(7)
        for at in range(n_files):
            (part / f"year={2010 + at % 10}").mkdir(parents=True, exist_ok=True)
            with open(part / f"year={2010 + at % 10}" / f"orders-{at:04}.csv", "w", encoding="utf-8") as file:
                for line in mixed(rng, n_rows):
                    file.write(line if at % 3 else line.split(",", 1)[1])
        part.rename(path)
    return path


def measure(csv_agent, folders, runs):
    python, out = peers_python(), CACHE / "out"
    print("| files | what | reader | s | peak MB | to fastest peer |")
    print("|---|---|---|--:|--:|--:|")
    for name, path, kinds in folders:
        for file in path.rglob("*.csv"):
            file.read_bytes()
        for kind in kinds:
            best = {}
            for _ in range(runs):
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir(parents=True)
                flags = ["--union-by-name", "--name", "orders"] if kind == "union" else []
                ours = [csv_agent, "ingest", "-q", "--session-dir", out / "session", *flags, path]
                commands = {"csv-agent": ours}
                for peer in ["duckdb", "polars"]:
                    (out / peer).mkdir()
                    commands[peer] = [python, "-c", PEERS[kind, peer], path, out / peer]
                for reader, command in commands.items():
                    result = run(command)
                    if result and (reader not in best or result < best[reader]):
                        best[reader] = result
            fastest = min((best[it][0] for it in best if it != "csv-agent"), default=None)
            for reader in ["csv-agent", "duckdb", "polars"]:
                if reader not in best:
                    print(f"| {name} | {kind} | {reader} | fails | | |")
                    continue
                seconds, rss = best[reader]
                ratio = f"{seconds / fastest:.2f}" if fastest else ""
                print(f"| {name} | {kind} | {reader} | {seconds:.2f} | {rss:.0f} | {ratio} |", flush=True)


def drifting(root, n_files, rng):
    """Writes files whose shape drifts, and returns the rows that a union must have, as text by column."""
    rows = []
    for at in range(n_files):
        year = 2000 + at % 20
        path = root / f"year={year}" / rng.choice(["Kansas", "Ohio", "Utah"]) / f"report-{at % 7}.csv"
        path = path if not path.exists() else path.with_name(f"report-{at}.csv")
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = ["id", "amount", "when", "city"]
        if year % 3 == 0:
            columns[1] = "sum"
        if 2010 <= year:
            columns.append("note")
        rng.shuffle(columns)
        delimiter = ";" if year % 4 == 0 else ","
        encoding = "utf-16" if year % 5 == 0 else "utf-8"
        table = []
        for _ in range(rng.randrange(3, 40)):
            values = {
                "id": f"{rng.randrange(1000):05}" if year % 6 == 5 else str(rng.randrange(1000)),
                "amount": f"{rng.randrange(1, 10**6) / 4:.2f}",
                "when": f"{year}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
                "city": rng.choice(["Köln", "São Paulo", 'a "b", c', "N/A"]),
                "note": rng.choice(["", "x; y", "5"]),
            }
            values["sum"] = values["amount"]
            table.append([values[it] for it in columns])
        with open(path, "w", encoding=encoding, newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerows([columns, *table])
        for cells in table:
            row = dict(zip(columns, cells))
            rows.append({"year": str(year), "_file": str(path), **{k: v for k, v in row.items() if v != ""}})
    return rows


def check(csv_agent, n_files):
    root, session = CACHE / "drifting", CACHE / "drifting-session"
    for path in [root, session]:
        shutil.rmtree(path, ignore_errors=True)
    rng = random.Random(11)
    expected = drifting(root, n_files, rng)
    (root / "README.txt").write_text("no data")

    def ingest(*arguments):
        command = [csv_agent, "ingest", "-q", "--session-dir", session, *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    joined = ingest("--union-by-name", "--name", "all", root)
    if joined.returncode != 0:
        sys.exit(joined.stderr)
    parquet = session / "datasets" / "all.parquet"
    code = "import polars, sys; polars.read_parquet(sys.argv[1]).write_csv(sys.argv[2])"
    table = CACHE / "drifting.csv"
    subprocess.run([peers_python(), "-c", code, parquet, table], check=True)
    with open(table, newline="", encoding="utf-8") as file:
        found = [{k: v for k, v in row.items() if v != ""} for row in csv.DictReader(file)]
    key = lambda row: row["_file"]
    wrong = 0
    for one, other in zip(sorted(expected, key=key), sorted(found, key=key), strict=True):
        for column in one.keys() | other.keys():
            a, b = one.get(column), other.get(column)
            is_number = column in ("amount", "sum") and a and b and float(a) == float(b)
            wrong += a != b and not is_number
    print(f"{n_files} files, {len(expected)} rows: {wrong} cells are wrong")

    (root / "broken.csv").write_bytes(bytes(range(8)) * 64)
    first = ingest(root, "--json")
    names = {it["source"]: it["name"] for it in json.loads(first.stdout)}
    more = drifting(root / "more", 3, rng)
    again = json.loads(ingest(root, "--json").stdout)
    kept = all(names.get(it["source"], it["name"]) == it["name"] for it in again)
    n_new = sum(it["status"] == "added" for it in again)
    is_unique = len({it["name"] for it in again}) == len(again)
    print(f"status {first.returncode} with a broken file; {n_new} files more: names kept {kept}, unique {is_unique}")
    ok = wrong == 0 and first.returncode == 5 and kept and is_unique and n_new == len({it["_file"] for it in more})
    sys.exit(0 if ok else "something is wrong")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--small", type=int, default=1000, help="number of small files, of 200 rows each")
    parser.add_argument("--large", type=int, default=50, help="number of large files, of 20 MB each")
    parser.add_argument("--check", type=int, nargs="?", const=500, metavar="FILES", help="compare cells instead")
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    if options.check:
        return check(options.csv_agent, options.check)
    folders = [
        (f"{options.small} × 17 kB", folder("small", options.small, 200), ["union", "each"]),
        (f"{options.large} × 20 MB", folder("large", options.large, 240_000), ["union", "each"]),
    ]
    measure(options.csv_agent, folders, options.runs)
    print(f"\nfiles in {CACHE}")


if __name__ == "__main__":
    main()
