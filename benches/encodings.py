#!/usr/bin/env python3
"""Measures how columns of the Parquet that ingest writes could be encoded otherwise.

    benches/encodings.py path/to/csv-agent [--mb 100]

Reads columns back with PyArrow and writes each again with one encoding after the other, at the same row
groups, page rows and zstd level. MB, then the least processor time of five writes and of five reads on one
thread. The first encoding of each column is the one that ingest takes.
"""

import argparse
import os
import subprocess
import sys
import tempfile

from ingest import CACHE, make, peers_python

COLUMNS = [
    ("narrow", "b", ["DELTA_BINARY_PACKED", "PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
    ("narrow", "x", ["PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
    ("narrow", "y", ["PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
    ("mixed", "price", ["PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
    ("mixed", "ordered", ["DELTA_BINARY_PACKED", "PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
    ("mixed", "shipped_at", ["DELTA_BINARY_PACKED", "PLAIN", "BYTE_STREAM_SPLIT", "dictionary"]),
    ("mixed", "zip", ["DELTA_LENGTH_BYTE_ARRAY", "PLAIN", "dictionary"]),
    ("mixed", "customer", ["DELTA_LENGTH_BYTE_ARRAY", "PLAIN", "dictionary"]),
    ("text", "title", ["DELTA_LENGTH_BYTE_ARRAY", "PLAIN", "dictionary"]),
]

WORK = r"""
import os, sys, time
import pyarrow.parquet as pq

source, column, target, *encodings = sys.argv[1:]

def least_ms(function):
    times = []
    for _ in range(5):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times) * 1000

file = pq.ParquetFile(source)
table = file.read([column])
for encoding in encodings:
    options = {"compression": "zstd", "compression_level": 1, "max_rows_per_page": 20_000,
               "row_group_size": file.metadata.row_group(0).num_rows}
    if encoding == "dictionary":
        options |= {"use_dictionary": True, "dictionary_pagesize_limit": 16 << 20}
    else:
        options |= {"use_dictionary": False, "column_encoding": encoding}
    write_ms = least_ms(lambda: pq.write_table(table, target, **options))
    read_ms = least_ms(lambda: pq.read_table(target, use_threads=False))
    print(f"| {column} | {encoding} | {os.path.getsize(target) / 1e6:.2f} | {write_ms:.0f} | {read_ms:.0f} |")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--mb", type=int, default=100)
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    print("| column | encoding | MB | write ms | read ms |\n|---|---|--:|--:|--:|")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(dir=CACHE) as session:
        for shape in dict.fromkeys(it[0] for it in COLUMNS):
            ingest = [options.csv_agent, "ingest", "-q", "--session-dir", session, make(shape, options.mb)]
            subprocess.run(ingest, check=True, stdout=subprocess.DEVNULL)
        for shape, column, encodings in COLUMNS:
            source = os.path.join(session, "datasets", f"{shape}_{options.mb}.parquet")
            target = os.path.join(session, "again.parquet")
            subprocess.run([peers_python(), "-c", WORK, source, column, target, *encodings], check=True)


if __name__ == "__main__":
    main()
