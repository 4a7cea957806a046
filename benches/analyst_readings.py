"""How the built-in analyst reads questions: candidates with their truth, and the weights of `src/analyst/rank.rs`.

    benches/analyst_readings.py BIN READINGS [--set seen]… [--table NAME] [--show wrong,refused]
    benches/analyst_readings.py BIN READINGS [--set seen]… --fit

BIN is the program, which ingests the tables once; READINGS is the example of the crate:

    cargo build --release -p csv-agent-analyst --example readings

DuckDB runs the statements of the analyst (`pip install duckdb pyarrow`). Says how often the first reading is right, how
often it is among the first three and ten, and how often it is sure and right or wrong. `--fit` fits the weights of how
sure a reading is (`pip install scikit-learn`), and says what they reach on tables that they were not fitted to. What
they are computed from the analyst says. The bias is such that `--wrong` of the questions are answered wrongly there.
"""

import argparse
import datetime
import decimal
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow.parquet as parquet

ROUNDS_MAX = 6
CANDIDATES_MAX = 10
# `rank::ANSWERED`
ANSWERED = 0.85


def module(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


ANALYST = module("analyst")


def dtype(type_):
    name = str(type_)
    if name.startswith("timestamp"):
        return "timestamp_utc" if "tz=" in name else "timestamp"
    if name.startswith("time"):
        return "time"
    names = {"double": "float64", "large_string": "string", "date32[day]": "date"}
    return names.get(name, name)


def cell(value):
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    return None if value != value else value


class Tables:
    """Tables as datasets, and DuckDB over them."""

    def __init__(self, binary, names, directory):
        session = Path(directory) / "_".join(names)
        self.connection = duckdb.connect()
        self.connection.execute("set timezone = 'UTC'")
        self.known = {}
        lines = []
        for name in names:
            subprocess.run(ANALYST.arguments(binary, str(session), name), check=True, capture_output=True)
        for path in sorted(session.rglob("*.parquet")):
            self.connection.execute(f'create view "{path.stem}" as select * from read_parquet(\'{path}\')')
            table = parquet.read_table(path)
            lines.append(f"- {path.stem}: {table.num_rows} rows, {table.num_columns} columns")
            for field in table.schema:
                missing = table.column(field.name).null_count
                note = f", {missing} missing" if missing else ""
                lines.append(f"  - {json.dumps(field.name, ensure_ascii=False)} {dtype(field.type)}{note}")
        self.instructions = "\n".join(lines) + "\n"

    def run(self, sql):
        """Returns columns and rows, or the error."""
        if sql not in self.known:
            try:
                cursor = self.connection.execute(sql)
                columns = [it[0] for it in cursor.description]
                self.known[sql] = columns, [[cell(it) for it in row] for row in cursor.fetchall()]
            except duckdb.Error as error:
                self.known[sql] = error
        return self.known[sql]

    def output(self, sql):
        """Returns what the tool would tell of a statement."""
        found = self.run(sql)
        if isinstance(found, Exception):
            return {"kind": "error", "text": str(found)}
        columns, rows = found
        head = [dict(zip(columns, row)) for row in rows[:20]]
        return {"kind": "dataframe", "columns": columns, "row_count": len(rows), "head": head}


class Reader:
    """The example that reads questions."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, tables, items, verdict):
        """Returns the readings of the last question, and the conversation with all calls that they needed."""
        for _ in range(ROUNDS_MAX):
            asked = {"instructions": tables.instructions, "items": items, "verdict": verdict}
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            found = json.loads(self.process.stdout.readline())
            if "calls" not in found:
                return found, items
            for at, (name, arguments) in enumerate(found["calls"]):
                call = {"type": "function_call", "call_id": f"{len(items)}_{at}", "name": name,
                        "arguments": json.dumps(arguments)}
                output = json.dumps(tables.output(arguments.get("sql", "")), default=str)
                items = [*items, call, {"type": "function_call_output", "call_id": call["call_id"], "output": output}]
        raise RuntimeError("the analyst asks again and again")


def message(role, text):
    return {"type": "message", "role": role, "content": [{"type": f"{'in' if role == 'user' else 'out'}put_text", "text": text}]}


def is_right(expected, tables, reading):
    found = tables.run(reading["sql"])
    if isinstance(found, Exception):
        return False
    columns, rows = found
    answer = {"columns": columns, "rows": rows, "row_count": len(rows)}
    for it in expected:
        if it.get("verdict"):
            holds = rows and rows[0][columns.index("holds")] if "holds" in columns else not rows
            if reading["check"] and ("good" if holds else "bad") == it["verdict"]:
                return True
        elif "rows" in it and ANALYST.has_table(answer, it) or it.get("row_count") == len(rows) and "rows" not in it:
            return True
    return False


def asked(options, binary, program, directory):
    """Yields each question with its readings and which of them are right."""
    files = [it for name in options.set for it in sorted((ANALYST.HOME / name).glob(f"{options.table}.jsonl"))]
    reader, tables, before = Reader(program), {}, {}
    for line in (json.loads(it) for file in files for it in file.read_text().splitlines()):
        names = tuple(line["tables"])
        if names not in tables:
            tables[names] = Tables(binary, names, directory)
        expected = [it["expect"] for it in line["either"]] if "either" in line else [line["expect"]]
        verdict = any("verdict" in it for it in expected)
        items = [*before.get(line.get("after"), []), message("user", line["question"])]
        found, items = reader.read(tables[names], items, verdict)
        before[line["id"]] = [*items, message("assistant", "Done.")]
        readings = found.get("readings", [])
        right = [is_right(expected, tables[names], it) for it in readings[:CANDIDATES_MAX]]
        if readings:
            readings[0]["features"] = dict(found["features"])
            readings[0]["was_run"] = found["was_run"]
        yield line, expected, readings, right, found.get("sureness", 0.0)


def fit(results, n_most_wrong):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict

    known = [it for it in results if it[2] and it[2][0]["was_run"]]
    names = list(known[0][2][0]["features"])
    inputs = [list(it[2][0]["features"].values()) for it in known]
    truth = [it[3][:1] == [True] for it in known]
    groups = ["_".join(it[0]["tables"]) for it in known]
    model = LogisticRegression(max_iter=5000)
    sure = cross_val_predict(model, inputs, truth, groups=groups, cv=GroupKFold(8), method="predict_proba")[:, 1]
    print("| answered from | right | wrong |\n|---:|---:|---:|")
    for least in (0.5, 0.7, 0.8, 0.85, 0.9):
        answered = [right for right, it in zip(truth, sure) if least <= it]
        print(f"| {least} | {sum(answered)} | {len(answered) - sum(answered)} |")
    model.fit(inputs, truth)
    # A higher bias answers more: it is raised as long as few enough answers are wrong where they are always answered
    # from the same sureness.
    n_wrong = n_most_wrong * len(results)
    wrong = sorted((it for it, right in zip(sure, truth) if not right), reverse=True)
    least = wrong[int(n_wrong)] if int(n_wrong) < len(wrong) else 0.0
    shift = math.log(ANSWERED / (1 - ANSWERED)) - math.log(least / (1 - least)) if 0 < least < 1 else 0.0
    print(f"const BIAS: f64 = {model.intercept_[0] + shift - 0.01:.2f};")
    for name, weight in zip(names, model.coef_[0]):
        print(f'    ("{name}", {weight:.3f}),')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("readings")
    parser.add_argument("--set", action="append", help="seen without one")
    parser.add_argument("--table", default="*")
    parser.add_argument("--show", default="")
    parser.add_argument("--sure", type=float, default=0.85)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--wrong", type=float, default=0.025)
    options = parser.parse_args()
    binary, program = (str(Path(it).resolve()) for it in (options.binary, options.readings))
    options.set = options.set or ["seen"]
    with tempfile.TemporaryDirectory() as directory:
        results = list(asked(options, binary, program, directory))
    if options.fit:
        fit(results, options.wrong)
        return
    counts, among, n_answerable = Counter(), Counter(), 0
    for line, expected, readings, right, sureness in results:
        is_refusal = any(it.get("refusal") for it in expected)
        is_sure = readings and options.sure <= sureness
        if is_refusal:
            outcome = "wrong" if is_sure else "right"
        else:
            n_answerable += 1
            for n in (1, 3, 10):
                among[n] += any(right[:n])
            outcome = ("right" if right[0] else "wrong") if is_sure else "refused"
        counts[outcome] += 1
        if outcome in options.show.split(","):
            print(f"{line['id']} {outcome}: {line['question']}", file=sys.stderr)
            for reading, fits in list(zip(readings, right))[:3]:
                mark = "right" if fits else "wrong"
                print(f"    {mark} {reading['cost']:.2f} {' '.join(reading['sql'].split())[:200]}", file=sys.stderr)
    print(f"| questions | right | refused | wrong |\n|---:|---:|---:|---:|\n| {len(results)} | {counts['right']} | "
          f"{counts['refused']} | {counts['wrong']} |\n")
    print("| answerable | first is right | among three | among ten |\n|---:|---:|---:|---:|\n"
          f"| {n_answerable} | {among[1]} | {among[3]} | {among[10]} |")


if __name__ == "__main__":
    main()
