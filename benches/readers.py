"""The readers that are compared, each as it comes and without a hint: a path in, a table out.

A table is a list of rows, the names first. The peers live in a virtual environment under the cache
directory of `benches/ingest.py`.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import venv

CACHE = pathlib.Path(tempfile.gettempdir()) / "csv-agent-bench"
# DuckDB hands out instants with pytz.
PACKAGES = ["duckdb", "pytz", "polars", "pyarrow", "pandas", "clevercsv"]
SYSTEMS = ["csv-agent", "duckdb", "duckdb lenient", "pandas", "pandas sniffing", "polars", "pyarrow", "clevercsv"]


def with_peers(run, name="pollock-venv", packages=PACKAGES):
    """Runs `run` in a Python that has the peers: this one, or the script again in another."""
    home = CACHE / name
    python = home / "bin" / "python"
    if pathlib.Path(sys.prefix) != home:
        if not python.exists():
            venv.create(home, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        sys.exit(subprocess.run([python, *sys.argv]).returncode)
    run()


def csv_agent(path, binary):
    import pyarrow.parquet

    with tempfile.TemporaryDirectory() as session:
        command = [binary, "ingest", "-q", "--session-dir", f"{session}/s", "--name", "t", path]
        subprocess.run(command, check=True, capture_output=True)
        return of_arrow(pyarrow.parquet.read_table(f"{session}/s/datasets/t.parquet"))


def duckdb(path, **options):
    import duckdb

    with duckdb.connect() as connection:
        relation = connection.read_csv(path, **options)
        return [relation.columns, *relation.fetchall()]


def pandas(path, **options):
    import pandas

    frame = pandas.read_csv(path, **options)
    return [list(frame.columns), *frame.astype(object).where(frame.notna(), None).values.tolist()]


def clevercsv(path):
    import clevercsv
    from clevercsv.cparser_util import field_size_limit

    # It lowers this limit while it looks at a file; a read that was stopped would leave it so.
    field_size_limit(131_072)
    return clevercsv.read_table(path)


def polars(path):
    import polars

    frame = polars.read_csv(path)
    return [frame.columns, *frame.rows()]


def pyarrow(path):
    from pyarrow import csv as arrow_csv

    return of_arrow(arrow_csv.read_csv(path))


def of_arrow(table):
    return [table.column_names, *zip(*(column.to_pylist() for column in table.columns))]


def load(system, path, binary):
    match system:
        case "csv-agent":
            return csv_agent(path, binary)
        case "duckdb":
            return duckdb(path)
        case "duckdb lenient":
            return duckdb(path, sample_size=-1, null_padding=True, ignore_errors=True, strict_mode=False)
        case "pandas":
            return pandas(path)
        case "pandas sniffing":
            return pandas(path, sep=None, engine="python", on_bad_lines="skip")
        case "polars":
            return polars(path)
        case "pyarrow":
            return pyarrow(path)
        case "clevercsv":
            return clevercsv(path)


def meaning(cell):
    text = "" if cell is None else str(cell).strip().lower()
    if day := re.fullmatch(r"(\d\d?)/(\d\d?)/(\d{4})", text):
        return f"{day[3]}-{int(day[2]):02}-{int(day[1]):02}"
    if day := re.fullmatch(r"(\d{4}-\d\d-\d\d) 00:00:00", text):
        return day[1]
    if clock := re.fullmatch(r"(\d\d?):(\d\d)(:00)?", text):
        return f"{int(clock[1]):02}:{clock[2]}"
    if whole := re.fullmatch(r"(-?\d+)(\.0*)?", text):
        return whole[1]
    return text
