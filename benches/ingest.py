#!/usr/bin/env python3
"""Measures `csv-agent ingest` against DuckDB, Polars and PyArrow: the same files to zstd Parquet.

    benches/ingest.py PATH/TO/csv-agent [--mb 100] [--runs 3] [--large]

Makes the files once, runs every reader as its own process, interleaved, page cache warm, and prints a
markdown table: best seconds of all runs, peak RSS, ratio to the fastest peer, size of the Parquet file.
The peers live in a virtual environment that the script makes. Everything is kept under one cache
directory, which the last line names.

What the peers do: DuckDB and Polars decide types from the first rows, PyArrow from the first block.
`full` makes DuckDB look at every row, as csv-agent always does.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import venv

CACHE = pathlib.Path(tempfile.gettempdir()) / "csv-agent-bench"
PACKAGES = ["duckdb", "polars", "pyarrow"]

PEERS = {
    "duckdb": """
import duckdb, sys
duckdb.sql(f"copy (from read_csv('{sys.argv[1]}')) to '{sys.argv[2]}' (format parquet, compression zstd)")
""",
    "duckdb full": """
import duckdb, sys
duckdb.sql(f"copy (from read_csv('{sys.argv[1]}', sample_size=-1)) to '{sys.argv[2]}' (format parquet, compression zstd)")
""",
    "polars": """
import polars, sys
polars.scan_csv(sys.argv[1]).sink_parquet(sys.argv[2], compression="zstd")
""",
    "pyarrow": """
import sys
from pyarrow import csv, parquet
reader = csv.open_csv(sys.argv[1], parse_options=csv.ParseOptions(newlines_in_values=True))
with parquet.ParquetWriter(sys.argv[2], reader.schema, compression="zstd") as writer:
    for batch in reader:
        writer.write_batch(batch)
""",
}


def narrow(rng, n):
    """Five columns of numbers."""
    yield "id,a,b,x,y\n"
    for at in range(n):
        yield f"{at},{rng.randrange(1000)},{rng.randrange(10**9)},{rng.random():.6f},{rng.gauss(0, 100):.3f}\n"


CITIES = ["Berlin", "Hamburg", "München", "Köln", "Leipzig", "Stuttgart", "Bremen", "Dresden"]


def mixed(rng, n):
    """What exports look like: ids, postcodes, words, days, times, numbers, flags, gaps."""
    yield "order_id,zip,city,customer,ordered,shipped_at,quantity,price,paid,comment\n"
    for at in range(n):
        day = f"20{rng.randrange(10, 25)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        clock = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        comment = rng.choice(["", "", "", "call first", '"leave at door, ring twice"', "fragile"])
        yield (
            f"{100000 + at},{rng.randrange(99999):05},{rng.choice(CITIES)},customer {rng.randrange(200000)},{day},"
            f"{day} {clock},{rng.randrange(1, 50)},{rng.randrange(100, 99999) / 100:.2f},"
            f"{'true' if rng.random() < 0.9 else 'false'},{comment}\n"
        )


def wide(rng, n):
    """Two hundred columns."""
    yield ",".join(f"c{at}" for at in range(200)) + "\n"
    for _ in range(n):
        numbers = [str(rng.randrange(100000)) for _ in range(100)]
        floats = [f"{rng.random():.4f}" for _ in range(80)]
        words = [rng.choice(CITIES) for _ in range(20)]
        yield ",".join(numbers + floats + words) + "\n"


WORDS = "the of and to in is that it was for on are with as his they at be this from have or by one had".split()


def text(rng, n):
    """Long text with line ends and quotes in it."""
    yield "id,title,body\n"
    for at in range(n):
        body = " ".join(rng.choices(WORDS, k=80))
        cut = len(body) // 2
        yield f'{at},"{body[:20]}","{body[:cut]}\n{body[cut:]}, ""{WORDS[at % 20]}"""\n'


def late(rng, n):
    """Mixed, and the last row breaks three types."""
    yield from mixed(rng, n)
    yield "n/a-7,x,Berlin,z,2024-01-01,yesterday,1,1,true,\n"


SHAPES = {"narrow": (narrow, 32), "mixed": (mixed, 84), "wide": (wide, 1200), "text": (text, 350), "late": (late, 84)}


def make(shape, n_mb):
    path = CACHE / f"{shape}-{n_mb}.csv"
    if not path.exists():
        generate, row_bytes = SHAPES[shape]
        part = path.with_suffix(".part")
        with open(part, "w", encoding="utf-8") as file:
            for line in generate(random.Random(7), n_mb * 1_000_000 // row_bytes):
                file.write(line)
        part.rename(path)
    return path


def run(command):
    """Returns seconds and peak RSS in MB, or None when the command fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    return (seconds, usage.ru_maxrss / 1024) if status == 0 else None


def peers_python():
    python = CACHE / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(CACHE / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="add a mixed file of 400 MB")
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    python = peers_python()
    out = CACHE / "out"
    shapes = [(shape, options.mb) for shape in SHAPES] + ([("mixed", 400)] if options.large else [])

    print("| file | reader | s | peak MB | to fastest peer | Parquet MB |")
    print("|---|---|--:|--:|--:|--:|")
    for shape, n_mb in shapes:
        path = make(shape, n_mb)
        path.read_bytes()
        best, sizes = {}, {}
        for _ in range(options.runs):
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            # A session of its own each time: the same source again would be a no-op.
            ours = [options.csv_agent, "ingest", "--session-dir", out / "session", "--max-bytes", "4GB", path]
            commands = {"csv-agent": ours}
            for name, code in PEERS.items():
                commands[name] = [python, "-c", code, path, out / f"{name}.parquet"]
            for name, command in commands.items():
                result = run(command)
                if result and (name not in best or result < best[name]):
                    best[name] = result
            for name in commands:
                pattern = "**/*.parquet" if name == "csv-agent" else f"{name}.parquet"
                root = out / "session" if name == "csv-agent" else out
                sizes[name] = sum(it.stat().st_size for it in root.glob(pattern)) / 1e6
        fastest = min((best[it][0] for it in PEERS if it in best), default=None)
        for name in ["csv-agent", *PEERS]:
            if name not in best:
                print(f"| {shape} {n_mb} MB | {name} | fails | | | |")
                continue
            seconds, rss = best[name]
            ratio = f"{seconds / fastest:.2f}" if fastest else ""
            print(f"| {shape} {n_mb} MB | {name} | {seconds:.2f} | {rss:.0f} | {ratio} | {sizes[name]:.1f} |")
        sys.stdout.flush()
    print(f"\nfiles in {CACHE}")


if __name__ == "__main__":
    main()
