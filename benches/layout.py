#!/usr/bin/env python3
"""Measures what the layout of the Parquet that ingest writes brings: row groups, statistics, dictionaries.

    benches/layout.py path/to/csv-agent [--mb 100] [--runs 5]

PyArrow writes each dataset again, first as ingest does, then with one thing changed, and csv-agent searches
each of these files. A column for each search: milliseconds from `tool_call` to `tool_result`, median of runs.
`footer` is what has to be read before any value.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from find import ingest, turn
from ingest import CACHE, make, peers_python
from model import environment, serve

# What is searched in each shape, by a label.
SEARCHES = {
    "mixed": [
        ("id, last row", "1290471"),
        ("number, absent", "0.123"),
        ("city", "Berlin"),
        ("text, absent", "Rostock"),
        ("customer, one of 200 000", "customer 77"),
    ],
    "wide": [
        ("number, absent", "100001"),
        ("fraction, absent", "0.12345"),
        ("city", "Berlin"),
        ("text, absent", "Rostock"),
    ],
}

WRITE = r"""
import struct, sys
import pyarrow.parquet as pq

source, target, change = sys.argv[1:]
file = pq.ParquetFile(source)
group = file.metadata.row_group(0)
columns = [group.column(at) for at in range(group.num_columns)]
dictionaries = [it.path_in_schema for it in columns if it.has_dictionary_page]
kinds = {"INT64": "DELTA_BINARY_PACKED", "INT32": "DELTA_BINARY_PACKED", "BYTE_ARRAY": "DELTA_LENGTH_BYTE_ARRAY"}
options = {
    "compression": "zstd", "compression_level": 1, "max_rows_per_page": 20_000, "write_page_index": True,
    "row_group_size": group.num_rows, "use_dictionary": dictionaries, "dictionary_pagesize_limit": 16 << 20,
}
what, _, value = change.partition("=")
if what == "rows":
    options["row_group_size"] = int(value)
elif what == "dictionaries":
    options["use_dictionary"] = False if value == "none" else True
elif what == "statistics":
    options["write_statistics"] = False
elif what == "page-index":
    options["write_page_index"] = False
if options["use_dictionary"] is not True:
    kept = options["use_dictionary"] or []
    options["column_encoding"] = {
        it.path_in_schema: kinds.get(it.physical_type, "PLAIN") for it in columns if it.path_in_schema not in kept}
pq.write_table(file.read(), target, **options)
with open(target, "rb") as written:
    written.seek(-8, 2)
    print(struct.unpack("<I", written.read(4))[0], pq.ParquetFile(target).metadata.num_row_groups)
"""

CHANGES = [
    ("as ingest writes it", "none"),
    ("row groups of 122 880 rows, DuckDB's", "rows=122880"),
    ("one row group", "rows=1000000000"),
    ("row groups of 2 000 rows", "rows=2000"),
    ("no statistics", "statistics=none"),
    ("no page index", "page-index=none"),
    ("no dictionaries", "dictionaries=none"),
    ("dictionaries everywhere", "dictionaries=all"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    binary = os.path.abspath(options.csv_agent)
    for shape, searches in SEARCHES.items():
        with tempfile.TemporaryDirectory(dir=CACHE) as home:
            session = pathlib.Path(home, "session")
            parquet = ingest(binary, make(shape, options.mb), session)
            source = parquet.rename(pathlib.Path(home, "source.parquet"))
            print(f"\n| {shape} | MB | footer kB | row groups | info | " + " | ".join(it[0] for it in searches) + " |")
            print("|---|" + "--:|" * (4 + len(searches)))
            print(f"| ingest's own file | {source.stat().st_size / 1e6:.2f} |" + " |" * (3 + len(searches)))
            calls = [("get_dataset_info", {"name": parquet.stem})]
            calls += [("find_value_columns", {"name": parquet.stem, "value": value}) for _, value in searches]
            for label, change in CHANGES:
                written = subprocess.run(
                    [peers_python(), "-c", WRITE, source, parquet, change], check=True, capture_output=True, text=True)
                footer, groups = written.stdout.split()
                with serve(calls) as url:
                    runs = [turn(binary, environment(home, url), home, session) for _ in range(options.runs)]
                times = [statistics.median(run[at][0] for run in runs) for at in range(len(calls))]
                size = parquet.stat().st_size / 1e6
                cells = [label, f"{size:.2f}", f"{int(footer) / 1e3:.0f}", groups] + [f"{it:.1f}" for it in times]
                print(f"| {' | '.join(cells)} |")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
