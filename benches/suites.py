#!/usr/bin/env python3
"""Reads the CSV files of public test suites with csv-agent and its peers, and compares the tables.

    benches/suites.py PATH/TO/csv-agent DIR [--only REGEX] [--differences]

DIR holds a checkout of each suite under its own name: `git clone --depth 1 https://github.com/OWNER/NAME
DIR/NAME` for those of `SUITES`; what is not there is left out. Every system reads every file as it comes,
without a hint.

Where a suite says what its files hold, that is the truth. Elsewhere it is the table that most of the seven
systems read, at least three of them; files on which there is no such table are counted as `open`. Cells are
compared by meaning, as `benches/pollock.py` does, and a name that a reader made up is no name. `--differences`
also prints the files that csv-agent reads otherwise, with the first rows as each sees them.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import pathlib
import re
import signal
import tempfile

from readers import PACKAGES, SYSTEMS, load, meaning, with_peers

SUITES = {
    "csv-spectrum": ("max-mapper/csv-spectrum", "csvs"),
    "csv-test-data": ("sineemore/csv-test-data", "csv"),
    "PapaParse": ("mholt/PapaParse", "tests"),
    "duckdb": ("duckdb/duckdb", "data/csv"),
    "polars": ("pola-rs/polars", "."),
    "pandas": ("pandas-dev/pandas", "pandas/tests/io"),
    "arrow-rs": ("apache/arrow-rs", "arrow-csv/test/data"),
    "arrow-testing": ("apache/arrow-testing", "data/csv"),
    "CleverCSV": ("alan-turing-institute/CleverCSV", "example"),
    "csvkit": ("wireservice/csvkit", "examples"),
    "frictionless-py": ("frictionlessdata/frictionless-py", "data"),
    "univocity-parsers": ("uniVocity/univocity-parsers", "src/test/resources"),
    "csvlint.rb": ("theodi/csvlint.rb", "features/fixtures"),
    "readr": ("tidyverse/readr", "."),
    "data.table": ("Rdatatable/data.table", "inst/tests"),
    "qsv": ("jqnatividad/qsv", "resources/test"),
}
# Inputs of fuzzers, and one file over and over.
LEFT_OUT = re.compile(r"/(afl|fuzzing|glob|hive-partitioning)/")
FILE = re.compile(r"\.(csv|tsv|psv|ssv|tab|dat|txt)(\.gz|\.zst|\.bz2|\.zip)?$", re.IGNORECASE)
READERS = [it for it in SYSTEMS if it not in ("duckdb lenient", "pandas sniffing")]
BYTES_MAX = 1_000_000
SECONDS_MAX = 20
AGREE_MIN = 3
UNIQUE = re.compile(r"(_\d+|\.\d+|_duplicated_\d+)$")
MADE_UP = re.compile(r"column_?\d+|unnamed: \d+.*|f\d+|_extra|_duplicated_\d+|")


def truth_of_json(path):
    """csv-spectrum has one object a row, csv-test-data a list of rows or of objects."""
    rows = json.loads(path.read_text())
    rows = rows if isinstance(rows, list) else [rows]
    if rows and isinstance(rows[0], dict):
        return [list(rows[0]), *(list(it.values()) for it in rows)]
    return rows


def papaparse(script):
    """Yields the inputs of PapaParse's tests of a plain `parse`, with the rows that they expect."""
    import quickjs

    context = quickjs.Context()
    context.eval(
        """
        var noop = () => {}, module = {exports: {}};
        var describe = Object.assign(noop, {skip: noop}), it = describe;
        var Papa = {RECORD_SEP: "\\x1e", UNIT_SEP: "\\x1f"};
        var require = (name) => (name === "chai" ? {assert: {}} : Papa);
        """
    )
    context.eval(script.read_text())
    for tests in ["CORE_PARSER_TESTS", "PARSE_TESTS"]:
        for test in json.loads(context.eval(f"JSON.stringify({tests})")):
            settings = set(test.get("config", {})) - {"newline", "worker"}
            expected = test["expected"]["data"]
            rows = [row for row in expected if isinstance(row, list) and row != [""]]
            if not settings and len(rows) == len(expected) - expected.count([""]):
                yield test["description"], test["input"], rows


def cases(root, scratch):
    """Yields suite, name, path and truth (or none) of every file."""
    for suite, (_, folder) in SUITES.items():
        if suite == "PapaParse" and (root / suite).exists():
            for at, (name, text, rows) in enumerate(papaparse(root / suite / "tests" / "test-cases.js")):
                path = pathlib.Path(scratch) / f"papaparse-{at:03}.csv"
                path.write_bytes(text.encode("utf-8", "surrogatepass"))
                yield suite, name, path, rows
        for path in sorted((root / suite / folder).rglob("*")):
            if LEFT_OUT.search(str(path)) or not FILE.search(path.name) or not path.is_file() or BYTES_MAX < path.stat().st_size:
                continue
            truth = None
            told = path.parent.parent / "json" / f"{path.stem}.json"
            if suite in ("csv-spectrum", "csv-test-data") and told.exists():
                truth = truth_of_json(told)
            yield suite, str(path.relative_to(root / suite)), path, truth


DAY = r"(?:(\d{4})[-/.](\d\d?)[-/.](\d\d?)|(\d\d?)[-/.](\d\d?)[-/.](\d{4}|\d\d))"
MOMENT = re.compile(DAY + r"(?:[t ](\d\d?):(\d\d)(?::(\d\d)(\.\d+)?)? ?(am|pm)?(z|[+-]\d\d:?\d\d)?)?")


def cell(value):
    """A cell by its meaning: a number whatever its zeros, a moment whatever its form."""
    text = meaning(value).replace("\r\n", "\n").replace("\r", "\n")
    if re.fullmatch(r"-?(0|[1-9]\d*)?\.\d+(e[+-]?\d+)?|-?[1-9]\d*e[+-]?\d+", text) and len(text) < 17:
        return repr(float(text)).removesuffix(".0")
    if moment := MOMENT.fullmatch(text):
        return instant(moment) or text
    return "" if text in ("nan", "null") else text


def instant(moment):
    """The day, and the time of day in UTC; of day and month the one over 12 is the day."""
    year, month, day, first, second, third, hour, minute, seconds, fraction, half, offset = moment.groups()
    if first:
        year = third if len(third) == 4 else f"20{third}"
        day, month = (second, first) if 12 < int(second) else (first, second)
    hours = int(hour or 0) % 12 + 12 * (half == "pm") if half else int(hour or 0)
    try:
        at = datetime.datetime(int(year), int(month), int(day), hours, int(minute or 0), int(seconds or 0))
    except ValueError:
        return None
    if offset and offset != "z":
        shift = datetime.timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:]))
        at += shift if offset[0] == "-" else -shift
    return f"{at}{(fraction or '').rstrip('0').rstrip('.')}"


def canonical(table):
    """Rows of one width, without those that hold nothing; made-up names are none."""
    rows = [[cell(it) for it in row] for row in table]
    rows = [rows[0], *(it for it in rows[1:] if any(it))] if rows else []
    width = max((len(it) for it in rows), default=0)
    rows = [tuple(it) + ("",) * (width - len(it)) for it in rows]
    if rows:
        names = (re.sub(r"\s+", " ", it) for it in rows[0])
        rows[0] = tuple("" if MADE_UP.fullmatch(it) else UNIQUE.sub("", it) for it in names)
    return tuple(it for it in rows if any(it))


def read(system, path, binary):
    """The canonical table, or why there is none."""

    def stop(*_):
        raise TimeoutError(f"more than {SECONDS_MAX} s")

    signal.signal(signal.SIGALRM, stop)
    try:
        # The alarm may go off until it is taken back, so that is within the outer `try`.
        signal.alarm(SECONDS_MAX)
        try:
            return canonical(load(system, str(path), binary)), ""
        finally:
            signal.alarm(0)
    except BaseException as error:  # Polars panics with a BaseException
        return None, str(getattr(error, "stderr", b"") or error)[:300]


def judge(tables, truth):
    """What each system made of a file: `as expected`, `refused`, `differs`; or `open` for all."""
    if truth is not None:
        truth = canonical(truth)
        expected = [truth, truth[1:]] if truth else [()]
        # A header-less file's first row may have been read as the names, or names were made up.
        fits = lambda it: it == truth or it[1:] == truth or it in expected
    else:
        counts = collections.Counter(it for it in tables if it is not None)
        (most, n), = counts.most_common(1) or [(None, 0)]
        if n < AGREE_MIN:
            return None
        fits = lambda it: it == most
    return ["refused" if it is None else "as expected" if fits(it) else "differs" for it in tables]


def run(arguments):
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ProcessPoolExecutor() as pool:
        found = [it for it in cases(arguments.dir, scratch) if re.search(arguments.only, f"{it[0]}/{it[1]}")]
        jobs = [[pool.submit(read, it, path, arguments.binary) for it in READERS] for _, _, path, _ in found]
        counts = collections.defaultdict(collections.Counter)
        for (suite, name, path, truth), of_file in zip(found, jobs):
            results = [it.result() for it in of_file]
            verdicts = judge([it[0] for it in results], truth)
            counts[suite]["files"] += 1
            counts[suite]["with truth"] += truth is not None
            for at, system in enumerate(READERS):
                counts[suite][system, verdicts[at] if verdicts else "open"] += 1
            if arguments.differences and (verdicts is None or verdicts[0] != "as expected"):
                show(suite, name, path, truth, results, verdicts)
    table(counts)


def table(counts):
    print("| suite | files | with truth | open | " + " | ".join(READERS) + " |")
    print("| --- | --: | --: | --: |" + " --: |" * len(READERS))
    total = sum(counts.values(), collections.Counter())
    for suite, of in [*counts.items(), ("all", total)]:
        shown = [
            f"{of[it, 'as expected']} / {of[it, 'refused']} / {of[it, 'differs']}" for it in READERS
        ]
        n_open = of[READERS[0], "open"]
        print(f"| {suite} | {of['files']} | {of['with truth']} | {n_open} | " + " | ".join(shown) + " |")


def show(suite, name, path, truth, results, verdicts):
    print(f"\n==== {suite}/{name}: {verdicts[0] if verdicts else 'open'}, {path.stat().st_size} bytes")
    print(repr(path.read_bytes()[:400]))
    if truth is not None:
        print(f"  truth: {len(truth)} rows {truth[:3]}")
    for at, (found, error) in enumerate(results):
        what = error.replace("\n", " ")[:160] if found is None else f"{len(found)} rows {str(found[:3])[:300]}"
        print(f"  {READERS[at]} ({verdicts[at] if verdicts else 'open'}): {what}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binary")
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--only", default="", help="read the files whose suite and name match")
    parser.add_argument("--differences", action="store_true", help="show what csv-agent reads otherwise")
    arguments = parser.parse_args()
    with_peers(lambda: run(arguments), "suites-venv", [*PACKAGES, "quickjs"])


if __name__ == "__main__":
    main()
