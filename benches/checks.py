#!/usr/bin/env python3
"""Measures `csv-agent check` against Soda Core, Great Expectations and pandera: the same hundred rules on a file.

    benches/checks.py PATH/TO/csv-agent [--mb 100] [--runs 5] [--venvs DIR] [--rules]

Makes a CSV file of orders once, and writes the rules for each tool in its own form: SQL in checks.toml, a contract
of Soda, expectations, a pandera schema. The rules that each tool finds broken are compared first: the script ends
with 1 when two tools differ. Then every tool runs as its own process, interleaved, page cache warm: from its start,
with reading the file, to its results. Prints a markdown table: least and median seconds of all runs, peak RSS in MB
of the largest process, ratio of the medians to csv-agent's.

Each peer has a virtual environment of its own below DIR, which the script makes where there is none. Soda reads the
file into DuckDB, the two others with PyArrow into pandas. Soda counts the rows that break a rule, the two others keep
values of them, and csv-agent keeps the first rows with their lines. `--rules` prints the rules instead.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import venv

from ingest import CACHE
from query import run

# name → what its virtual environment needs, the first being the peer
PEERS = {
    "soda": ["soda-duckdb"],
    "great_expectations": ["great_expectations", "pyarrow"],
    "pandera": ["pandera[pandas]", "pyarrow"],
}
QUIET = {"SODA_CORE_TELEMETRY_ENABLED": "false", "GX_ANALYTICS_ENABLED": "false"}

STATUSES = ["open", "paid", "sent", "returned"]
MODES = ["air", "rail", "road", "sea", "mail", "courier", "pickup"]
PRIORITIES = ["urgent", "high", "medium", "low"]
CHANNELS = ["web", "shop", "phone"]
COUNTRIES = ["AT", "BR", "CA", "CH", "DE", "FR", "GB", "IN", "JP", "NO", "SE", "US"]
WORDS = "call first leave at door ring twice fragile keep dry no returns gift wrap see invoice hold for pickup".split()
COLUMNS = (
    "order_id,code,customer_id,sku,email,phone,country,status,mode,priority,channel,ordered,shipped,quantity,price,"
    "discount,tax,weight,rating,comment"
).split(",")
ROW_BYTES = 178


def orders(rng, n_rows):
    """Orders, of which a few break each rule that is to be broken."""
    yield ",".join(COLUMNS) + "\n"
    for at in range(n_rows):
        day = rng.randrange(27)
        month = f"20{rng.randrange(21, 25)}-{rng.randrange(1, 13):02}"
        row = {
            "order_id": 100_000 + at,
            "code": f"C{at:08}",
            "customer_id": rng.randrange(1, 50_000),
            "sku": f"{rng.choice('ABCDEFGH')}{rng.choice('RSTUVW')}-{rng.randrange(10_000):04}",
            "email": f"user{rng.randrange(200_000)}@example.org",
            "phone": f"+{rng.randrange(10, 100)} {rng.randrange(100, 1000)} {rng.randrange(1_000_000):06}",
            "country": rng.choice(COUNTRIES),
            "status": rng.choice(STATUSES),
            "mode": rng.choice(MODES),
            "priority": rng.choice(PRIORITIES),
            "channel": rng.choice(CHANNELS),
            "ordered": f"{month}-{day + 1:02}",
            "shipped": f"{month}-{rng.randrange(day, 28) + 1:02}" if rng.random() < 0.8 else "",
            "quantity": rng.randrange(1, 51),
            "price": f"{rng.randrange(1_000, 99_999) / 100:.2f}",
            "discount": f"{rng.randrange(26) / 100:.2f}",
            "tax": f"{rng.randrange(100, 900) / 100:.2f}",
            "weight": f"{rng.randrange(100, 30_000) / 1000:.3f}",
            "rating": rng.randrange(1, 6),
            "comment": " ".join(rng.choices(WORDS, k=6)),
        }
        match at % 5_000:
            case 101:
                row["email"] = ""
            case 202:
                row["status"] = "lost"
            case 303:
                row["quantity"] = 0
            case 404:
                row["price"] = "123456.00"
            case 505:
                row["sku"] = row["sku"].lower()
            case 606:
                row["shipped"] = "2020-01-01"
            case 707:
                row["code"] = "C00000001"
            case 808:
                row["phone"] = "none"
            case 909:
                row["tax"] = "2000.00"
        yield ",".join(str(row[it]) for it in COLUMNS) + "\n"


def rules(n_rows):
    """Returns the hundred rules: each a kind, a column, and what it is compared with."""
    made = [("present", it, None) for it in COLUMNS if it != "shipped"]
    bounds = {
        "order_id": (100_000, 10**9),
        "customer_id": (1, 50_000),
        "quantity": (1, 50),
        "price": (10, 1_000),
        "discount": (0, 0.5),
        "tax": (1, 500),
        "weight": (0.1, 30),
        "rating": (1, 5),
    }
    for column, (low, high) in bounds.items():
        made += [("min", column, low), ("max", column, high)]
    sets = {"country": COUNTRIES, "status": STATUSES, "mode": MODES, "priority": PRIORITIES, "channel": CHANNELS}
    for column, values in sets.items():
        made += [("one of", column, values), ("none of", column, ["test", "unknown", "?"])]
    made.append(("none of", "comment", ["", "test", "n/a"]))
    patterns = {
        "sku": ["[A-Z]{2}-[0-9]{4}", "..-.*"],
        "code": ["C[0-9]{8}", "C.*"],
        "email": ["[a-z0-9]+@[a-z]+[.]org", "[^ ]+"],
        "phone": ["[+][0-9]{2} [0-9]{3} [0-9]{6}", "[^a-z]+"],
        "country": ["[A-Z]{2}", "[^0-9]+"],
        "comment": ["[a-z ]+", "[a-z].*"],
    }
    made += [("pattern", column, it) for column, them in patterns.items() for it in them]
    lengths = {"sku": (7, 7), "code": (9, 9), "email": (10, 60), "phone": (10, 20), "country": (2, 2)}
    lengths["comment"] = (5, 99)
    for column, (low, high) in lengths.items():
        made += [("shortest", column, low), ("longest", column, high)]
    made += [("unique", "order_id", None), ("unique", "code", None)]
    averages = {
        "customer_id": (20_000, 30_000),
        "quantity": (20, 30),
        "price": (400, 600),
        "discount": (0.1, 0.2),
        "tax": (4, 6),
        "weight": (10, 20),
        "rating": (3.5, 5),
    }
    made += [("average", column, it) for column, it in averages.items()]
    pairs = ["ordered shipped", "tax price", "discount price", "discount rating", "discount tax"]
    made += [("in order", *it.split()) for it in [*pairs, "customer_id order_id"]]
    shares = {"email": 1, "shipped": 30, "comment": 1, "phone": 1, "price": 1}
    made += [("missing at most", column, it) for column, it in shares.items()]
    beyond = {"price": 1_000, "quantity": 40, "tax": 500, "weight": 40, "discount": 0.3, "rating": 4}
    made += [("at most 5 % above", column, it) for column, it in beyond.items()]
    made += [("rows from", "order_id", n_rows // 2), ("rows to", "order_id", n_rows * 2)]
    made += [("min", "shipped", "2021-01-01"), ("max", "ordered", "2024-12-31")]
    return [{"name": name(*it), "kind": it[0], "column": it[1], "value": it[2]} for it in made]


def name(kind, column, value):
    value = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else "" if value is None else value
    return f"{column}: {kind} {value}".strip()


def sql_literal(value):
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def statement(rule):
    """Returns the SQL of a rule: its rows break it."""
    kind, column, value = rule["kind"], rule["column"], rule["value"]

    def one(number, condition):
        return f"select n from (select {number} as n from orders) where {condition}"

    match kind:
        case "average":
            return one(f"avg({column})", f"n not between {value[0]} and {value[1]}")
        case "missing at most":
            return one(f"100.0 * count(*) filter (where {column} is null) / count(*)", f"n > {value}")
        case "at most 5 % above":
            return one(f"100.0 * count(*) filter (where {column} > {value}) / count({column})", "n > 5")
        case "rows from":
            return one("count(*)", f"n < {value}")
        case "rows to":
            return one("count(*)", f"n > {value}")
        case "unique":
            return f"select * from orders qualify count(*) over (partition by {column}) > 1"
    return f"select * from orders where {broken(rule)}"


def broken(rule):
    """Returns the condition on the rows that break a rule."""
    kind, column, value = rule["kind"], rule["column"], rule["value"]
    match kind:
        case "present":
            return f"{column} is null"
        case "min":
            return f"{column} < {sql_date(value)}"
        case "max":
            return f"{column} > {sql_date(value)}"
        case "one of":
            return f"{column} not in ({', '.join(map(sql_literal, value))})"
        case "none of":
            return f"{column} in ({', '.join(map(sql_literal, value))})"
        case "pattern":
            return f"not regexp_full_match({column}, {sql_literal(value)})"
        case "shortest":
            return f"length({column}) < {value}"
        case "longest":
            return f"length({column}) > {value}"
        case "in order":
            return f"{column} > {value}"


def sql_date(value):
    return f"date '{value}'" if isinstance(value, str) else value


def checks_toml(made, path):
    blocks = (f"\n[[check]]\nname = {json.dumps(it['name'])}\nsql = {json.dumps(statement(it))}\n" for it in made)
    return f"[data]\norders = {json.dumps(str(path))}\n" + "".join(blocks)


def soda_contract(made):
    """Returns a contract; JSON is YAML."""
    columns, table = {it: [] for it in COLUMNS}, []
    for at, rule in enumerate(made):
        kind, value = rule["kind"], rule["value"]
        check = {"name": rule["name"], "qualifier": f"r{at}"}
        match kind:
            case "present":
                found = {"missing": check}
            case "missing at most":
                check["threshold"] = {"metric": "percent", "must_be_less_than_or_equal": value}
                found = {"missing": check}
            case "at most 5 % above":
                threshold = {"metric": "percent", "must_be_less_than_or_equal": 5}
                found = {"invalid": {**check, "valid_max": value, "threshold": threshold}}
            case "unique":
                found = {"duplicate": check}
            case "average":
                between = {"greater_than_or_equal": value[0], "less_than_or_equal": value[1]}
                found = {"aggregate": {**check, "function": "avg", "threshold": {"must_be_between": between}}}
            case "rows from" | "rows to":
                bound = "must_be_greater_than_or_equal" if kind == "rows from" else "must_be_less_than_or_equal"
                table.append({"row_count": {**check, "threshold": {bound: value}}})
                continue
            case "in order":
                table.append({"failed_rows": {**check, "expression": broken(rule)}})
                continue
            case "min" | "max" if isinstance(value, str):
                table.append({"failed_rows": {**check, "expression": broken(rule)}})
                continue
            case "pattern":
                found = {"invalid": {**check, "valid_format": {"name": f"r{at}", "regex": f"^({value})$"}}}
            case _:
                key = {
                    "min": "valid_min",
                    "max": "valid_max",
                    "one of": "valid_values",
                    "none of": "invalid_values",
                    "shortest": "valid_min_length",
                    "longest": "valid_max_length",
                }[kind]
                found = {"invalid": {**check, key: value}}
        columns[rule["column"]].append(found)
    columns = [{"name": it, **({"checks": checks} if checks else {})} for it, checks in columns.items()]
    return json.dumps({"dataset": "orders/main/orders", "columns": columns, "checks": table}, indent=1)


SODA = """
import json, sys
from soda_core.contracts import verify_contract_locally
result = verify_contract_locally(data_source_file_path=sys.argv[1], contract_file_path=sys.argv[2])
checks = result.contract_verification_results[0].check_results
print()
print(json.dumps({it.check.name: it.outcome.name for it in checks}))
"""

READ = """
import json, sys
import pandas
rules = json.loads(open(sys.argv[2]).read())
frame = pandas.read_csv(sys.argv[1], engine="pyarrow", parse_dates=["ordered", "shipped"])
"""

GREAT_EXPECTATIONS = (
    READ
    + """
import great_expectations as gx
import great_expectations.expectations as gxe
made = {
    "present": lambda c, v: gxe.ExpectColumnValuesToNotBeNull(column=c),
    "missing at most": lambda c, v: gxe.ExpectColumnValuesToNotBeNull(column=c, mostly=1 - v / 100),
    "min": lambda c, v: gxe.ExpectColumnValuesToBeBetween(column=c, min_value=moment(v)),
    "max": lambda c, v: gxe.ExpectColumnValuesToBeBetween(column=c, max_value=moment(v)),
    "at most 5 % above": lambda c, v: gxe.ExpectColumnValuesToBeBetween(column=c, max_value=v, mostly=0.95),
    "one of": lambda c, v: gxe.ExpectColumnValuesToBeInSet(column=c, value_set=v),
    "none of": lambda c, v: gxe.ExpectColumnValuesToNotBeInSet(column=c, value_set=v),
    "pattern": lambda c, v: gxe.ExpectColumnValuesToMatchRegex(column=c, regex=f"^({v})$"),
    "shortest": lambda c, v: gxe.ExpectColumnValueLengthsToBeBetween(column=c, min_value=v),
    "longest": lambda c, v: gxe.ExpectColumnValueLengthsToBeBetween(column=c, max_value=v),
    "unique": lambda c, v: gxe.ExpectColumnValuesToBeUnique(column=c),
    "average": lambda c, v: gxe.ExpectColumnMeanToBeBetween(column=c, min_value=v[0], max_value=v[1]),
    "in order": lambda c, v: gxe.ExpectColumnPairValuesAToBeGreaterThanB(
        column_A=v, column_B=c, or_equal=True, ignore_row_if="either_value_is_missing"
    ),
    "rows from": lambda c, v: gxe.ExpectTableRowCountToBeBetween(min_value=v),
    "rows to": lambda c, v: gxe.ExpectTableRowCountToBeBetween(max_value=v),
}
def moment(value):
    return pandas.Timestamp(value) if isinstance(value, str) else value
context = gx.get_context(mode="ephemeral")
suite = gx.ExpectationSuite(name="orders")
for rule in rules:
    expectation = made[rule["kind"]](rule["column"], rule["value"])
    expectation.meta = {"name": rule["name"]}
    suite.add_expectation(expectation)
source = context.data_sources.add_pandas("orders")
batch = source.add_dataframe_asset("orders").add_batch_definition_whole_dataframe("orders")
found = batch.get_batch({"dataframe": frame}).validate(suite)
errors = [it.exception_info for it in found.results if it.exception_info.get("raised_exception")]
if errors:
    sys.exit(str(errors[0]))
print(json.dumps({it.expectation_config.meta["name"]: it.success for it in found.results}))
"""
)

PANDERA = (
    READ
    + """
import pandera.pandas as pa
def check(kind, v):
    bound = pandas.Timestamp(v) if kind in ("min", "max") and isinstance(v, str) else v
    match kind:
        case "missing at most":
            return dict(check_fn=lambda it: it.isna().mean() * 100 <= v, ignore_na=False)
        case "at most 5 % above":
            return dict(check_fn=lambda it: (it > v).mean() <= 0.05)
        case "average":
            return dict(check_fn=lambda it: v[0] <= it.mean() <= v[1])
        case "rows from":
            return dict(check_fn=lambda it: v <= len(it), ignore_na=False)
        case "rows to":
            return dict(check_fn=lambda it: len(it) <= v, ignore_na=False)
        case "pattern":
            return dict(check_fn=lambda it: it.str.fullmatch(v))
        case "min":
            return dict(check_fn=lambda it: it >= bound)
        case "max":
            return dict(check_fn=lambda it: it <= bound)
        case "one of":
            return dict(check_fn=lambda it: it.isin(v))
        case "none of":
            return dict(check_fn=lambda it: ~it.isin(v))
        case "shortest":
            return dict(check_fn=lambda it: it.str.len() >= v)
        case "longest":
            return dict(check_fn=lambda it: it.str.len() <= v)
def in_order(a, b):
    return lambda it: (it[a] <= it[b]) | it[b].isna()
columns = {it: dict(checks=[], nullable=True, unique=False) for it in frame.columns}
table, names = [], {}
for rule in rules:
    kind, column, name = rule["kind"], rule["column"], rule["name"]
    if kind == "present":
        columns[column]["nullable"] = False
        names[column, "not_nullable"] = name
    elif kind == "unique":
        columns[column]["unique"] = True
        names[column, "field_uniqueness"] = name
    elif kind == "in order":
        table.append(pa.Check(in_order(column, rule["value"]), error=name))
    else:
        columns[column]["checks"].append(pa.Check(**check(kind, rule["value"]), error=name))
schema = pa.DataFrameSchema({it: pa.Column(**how) for it, how in columns.items()}, checks=table)
failed = set()
try:
    schema.validate(frame, lazy=True)
except pa.errors.SchemaErrors as errors:
    cases = errors.failure_cases[["column", "check"]].drop_duplicates()
    failed = {names.get((column, it), it) for column, it in cases.itertuples(index=False)}
print(json.dumps({it["name"]: it["name"] not in failed for it in rules}))
"""
)


def make(n_mb):
    """Returns the CSV file, and how many rows it has."""
    folder = CACHE / f"checks-{n_mb}"
    folder.mkdir(parents=True, exist_ok=True)
    path, n_rows = folder / "orders.csv", n_mb * 1_000_000 // ROW_BYTES
    if not path.exists():
        part = path.with_suffix(".part")
        with open(part, "w", encoding="utf-8") as file:
            file.writelines(orders(random.Random(7), n_rows))
        part.rename(path)
    return path, n_rows


def python_of(peer, venvs):
    """Returns the Python of a peer and what it is called, with its version."""
    packages, folder = PEERS[peer], venvs / peer
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    package = packages[0].partition("[")[0]
    version = f"import importlib.metadata; print(importlib.metadata.version('{package}'))"
    told = subprocess.run([python, "-c", version], capture_output=True, text=True, check=True)
    return python, f"{package} {told.stdout.strip()}"


def commands(csv_agent, venvs, path, made):
    """Returns the command of each tool; each writes its results to stdout as JSON."""
    files = {
        "checks.toml": checks_toml(made, path),
        "contract.yml": soda_contract(made),
        "source.yml": json.dumps({"type": "duckdb", "name": "orders", "connection": {"database": str(path)}}),
        "rules.json": json.dumps(made),
    }
    for file, text in files.items():
        (path.parent / file).write_text(text)
    toml, contract, source, listed = (path.parent / it for it in files)
    soda, soda_name = python_of("soda", venvs)
    expectations, expectations_name = python_of("great_expectations", venvs)
    pandera, pandera_name = python_of("pandera", venvs)
    return {
        "csv-agent": [csv_agent, "check", "--no-config", "-q", "--fail-on", "never", "--json", toml],
        soda_name: [soda, "-c", SODA, source, contract],
        expectations_name: [expectations, "-c", GREAT_EXPECTATIONS, path, listed],
        pandera_name: [pandera, "-c", PANDERA, path, listed],
    }


def broken_rules(tool, command, made):
    """Returns the names of the rules that a tool finds broken."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{tool}: {ran.stderr or ran.stdout}")
    # Soda writes its log to stdout as well, and DuckDB its progress.
    found = json.loads([it for it in ran.stdout.splitlines() if it.startswith(("{", "["))][-1])
    if isinstance(found, list):
        found = {it["name"]: it["result"] for it in found}
    words = {"good": True, "bad": False, "PASSED": True, "FAILED": False, True: True, False: False}
    others = {it: word for it, word in found.items() if word not in words}
    if others or set(found) != {it["name"] for it in made}:
        sys.exit(f"{tool} does not decide all rules: {others}")
    return {it for it, word in found.items() if not words[word]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv_agent")
    parser.add_argument("--mb", type=int, nargs="+", default=[100])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--venvs", type=pathlib.Path, default=CACHE / "checks-venvs", metavar="DIR")
    parser.add_argument("--rules", action="store_true", help="print the rules and end")
    options = parser.parse_args()
    os.environ.update(QUIET)
    if options.rules:
        print(checks_toml(rules(1), "orders.csv"))
        return
    print("| MB | tool | least s | median s | peak MB | to csv-agent |\n|--:|---|--:|--:|--:|--:|")
    for n_mb in options.mb:
        path, n_rows = make(n_mb)
        made = rules(n_rows)
        tools = commands(options.csv_agent, options.venvs, path, made)
        broken = {tool: broken_rules(tool, command, made) for tool, command in tools.items()}
        expected = broken["csv-agent"]
        for tool, them in broken.items():
            if them != expected:
                sys.exit(f"{tool} and csv-agent differ: {sorted(them ^ expected)}")
        results = {tool: [] for tool in tools}
        for _ in range(options.runs):
            for tool, command in tools.items():
                results[tool].append(run(command) or sys.exit(f"{tool} fails"))
        medians = {tool: statistics.median(seconds for seconds, _ in them) for tool, them in results.items()}
        for tool, them in results.items():
            least, peak = min(them)[0], max(peak for _, peak in them)
            ratio = medians[tool] / medians["csv-agent"]
            print(f"| {n_mb} | {tool} | {least:.2f} | {medians[tool]:.2f} | {peak:.0f} | {ratio:.1f} |", flush=True)
        print(f"\n{len(made)} rules, of which all tools find {len(expected)} broken; files in {path.parent}\n")


if __name__ == "__main__":
    main()
