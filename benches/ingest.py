#!/usr/bin/env python3
"""Measures `csv-agent ingest` against DuckDB, Polars and PyArrow: the same files to zstd Parquet.

    benches/ingest.py PATH/TO/csv-agent [--mb 100] [--runs 3] [--only SHAPE…] [--large | --cpus 1,2,…]

Makes the files once, runs every reader as its own process, interleaved, page cache warm, and prints a
markdown table: best seconds of all runs, peak RSS, ratio to the fastest peer, size of the Parquet file.
The peers live in a virtual environment that the script makes. Everything is kept under one cache
directory, which the last line names.

What the peers do: DuckDB and Polars decide types from the first rows, PyArrow from the first block.
`full` makes DuckDB look at every row, as csv-agent always does.

`--large` measures the bounds instead, csv-agent alone: files of 400 MB and 4 GB, 200 columns of 2 million
rows, a cell of 100 MB, a quote that nobody closes. It needs 10 GB of disk; its files are removed.

`--cpus 1,2,4` measures csv-agent alone on so many processors of this machine, and prints how many times as
fast each is as the first.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
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


def nonnumeric(rng, n):
    """Every text is quoted and no number, as spreadsheets and statistics programs write it."""
    yield '"customer","city","ordered","quantity","price"\n'
    for at in range(n):
        day = f"20{rng.randrange(10, 25)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        price = rng.randrange(100, 99999) / 100
        yield f'"customer {rng.randrange(200000)}","{rng.choice(CITIES)}","{day}",{rng.randrange(1, 50)},{price:.2f}\n'


def late(rng, n):
    """Mixed, and the last row breaks three types."""
    yield from mixed(rng, n)
    yield "n/a-7,x,Berlin,z,2024-01-01,yesterday,1,1,true,\n"


SHAPES = {"narrow": (narrow, 32), "mixed": (mixed, 84), "wide": (wide, 1200), "text": (text, 350), "late": (late, 84)}
SHAPES["nonnumeric"] = (nonnumeric, 52)


def make(shape, n_mb):
    path = CACHE / f"{shape}-{n_mb}.csv"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        generate, row_bytes = SHAPES[shape]
        part = path.with_suffix(".part")
        with open(part, "w", encoding="utf-8") as file:
            for line in generate(random.Random(7), n_mb * 1_000_000 // row_bytes):
                file.write(line)
        part.rename(path)
    return path


def repeated(source, n):
    """The header of a file and its rows, n times over."""

    def write(file):
        with open(source, "rb") as rows:
            file.write(rows.readline())
            start = rows.tell()
            for _ in range(n):
                rows.seek(start)
                shutil.copyfileobj(rows, file, 1 << 20)

    return write


def quoted(n_mb):
    """One row with a cell of many lines."""

    def write(file):
        file.write(b'id,body\n1,"')
        for _ in range(n_mb):
            file.write(b"0123456789 abcde\n" * 58_823)
        file.write(b'"\n2,"short"\n')

    return write


def unclosed(n_mb):
    """Rows behind a quote that nobody closes."""

    def write(file):
        file.write(b'order_id,zip,city\n1,"12345,Berlin\n')
        for _ in range(n_mb):
            file.write(b"2,54321,Hamburg\n" * 62_500)

    return write


LONGEST_S = 120


def run(command):
    """Returns seconds and peak RSS in MB, or None when the command fails or takes too long."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # DuckDB hangs now and then where it should fail.
    kill = threading.Timer(LONGEST_S, process.kill)
    kill.start()
    _, status, usage = os.wait4(process.pid, 0)
    kill.cancel()
    seconds = time.perf_counter() - start
    return (seconds, usage.ru_maxrss / 1024) if status == 0 else None


def peers_python():
    python = CACHE / "venv" / "bin" / "python"
    if not python.exists():
        venv.create(CACHE / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return python


def show_bounds(csv_agent, out):
    """Measures what bounds csv-agent: one row a file, whose outcome is what stderr says of it."""
    mixed_100, wide_100 = make("mixed", 100), make("wide", 100)
    with open(wide_100, "rb") as file:
        wide_rows = sum(1 for _ in file) - 1
    files = [
        ("mixed", repeated(mixed_100, 4)),
        ("mixed", repeated(mixed_100, 40)),
        ("200 columns, 2 million rows", repeated(wide_100, -(-2_000_000 // wide_rows))),
        ("one cell of 30 MB", quoted(30)),
        ("one cell of 100 MB", quoted(100)),
        ("an open quote in the first row", unclosed(300)),
    ]
    print("| file | MB | s | peak MB | outcome |")
    print("|---|--:|--:|--:|---|")
    for name, write in files:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        path = out / "large.csv"
        with open(path, "wb") as file:
            write(file)
        command = [csv_agent, "ingest", "--session-dir", out / "session", "--max-bytes", "6GB", path]
        start = time.perf_counter()
        with open(out / "stderr", "w+", encoding="utf-8") as stderr:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)
            _, _, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
            stderr.seek(0)
            outcome = stderr.readline().strip().replace(str(out), "").replace("|", "\\|")
        n_mb, peak_mb = path.stat().st_size / 1e6, usage.ru_maxrss / 1024
        print(f"| {name} | {n_mb:.0f} | {seconds:.1f} | {peak_mb:.0f} | {outcome} |", flush=True)
    shutil.rmtree(out)


def show_cpus(binary, shapes, counts, runs):
    """Prints the seconds of each shape on so many processors, and the speed-up to the first count."""
    out = CACHE / "out"
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < max(counts):
        sys.exit(f"this machine gives {len(cpus)} processors, and {max(counts)} are asked for")
    print("| file | processors | s | peak MB | times as fast |")
    print("|---|--:|--:|--:|--:|")
    for shape, n_mb in shapes:
        path = make(shape, n_mb)
        path.read_bytes()
        first = None
        for count in counts:
            os.sched_setaffinity(0, cpus[:count])
            best = None
            for _ in range(runs):
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir(parents=True)
                result = run([binary, "ingest", "--session-dir", out / "session", "--max-bytes", "4GB", path])
                best = min(filter(None, [best, result]), default=None)
            os.sched_setaffinity(0, cpus)
            if best is None:
                sys.exit(f"{shape}: csv-agent fails")
            seconds, rss = best
            first = first or seconds
            print(f"| {shape} {n_mb} MB | {count} | {seconds:.2f} | {rss:.0f} | {first / seconds:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="SHAPE")
    parser.add_argument("--large", action="store_true", help="measure the bounds of csv-agent instead")
    counts = lambda text: [int(it) for it in text.split(",")]
    parser.add_argument("--cpus", type=counts, metavar="1,2,…", help="measure csv-agent alone on so many processors")
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    if options.large:
        return show_bounds(options.csv_agent, CACHE / "large")
    shapes = [(shape, options.mb) for shape in options.only]
    if options.cpus:
        return show_cpus(options.csv_agent, shapes, options.cpus, options.runs)
    python = peers_python()
    out = CACHE / "out"

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
