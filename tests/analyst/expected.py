"""Computes the truth of the questions: runs each line's SQL in DuckDB and writes its `expect`.

    python3 tests/analyst/expected.py            rewrites seen, fresh and unseen/*.jsonl in place
    python3 tests/analyst/expected.py --check    writes nothing; fails where a file would change

Needs the package `duckdb`, and nothing else. The SQL is the source: it is written by hand for its
question. `ordered`, `chart`, `verdict` and `refusal` say how the result is meant and are kept.
"""

import argparse
import datetime
import decimal
import json
import math
import sys
from pathlib import Path

HERE = Path(__file__).parent
TABLES = HERE / "tables"
ROWS_MAX = 200  # a longer list is expected by its number of rows only


def connect():
    """Every table as a table of DuckDB, named as its file without `.csv`."""
    try:
        import duckdb
    except ImportError:
        sys.exit("expected.py needs DuckDB, which is not there: `pip install duckdb`")
    con = duckdb.connect()
    con.execute("SET TimeZone = 'UTC'")
    options = json.loads((TABLES / "tables.json").read_text())
    for path in sorted(TABLES.glob("*.csv")):
        table = options.get(path.name, {})
        text = ", ".join(f"'{column}': 'VARCHAR'" for column in table.get("text", []))
        types = f", types = {{{text}}}" if text else ""
        con.execute(
            f'CREATE TABLE "{path.stem}" AS SELECT * FROM read_csv(?, header = true, '
            f"sample_size = -1, nullstr = ?{types})",
            [str(path), ["", *table.get("null", [])]],
        )
        # Python reads zoned times from DuckDB only with a further package; here all are UTC.
        for column, dtype, *_ in con.execute(f'DESCRIBE "{path.stem}"').fetchall():
            if dtype == "TIMESTAMP WITH TIME ZONE":
                con.execute(f'ALTER TABLE "{path.stem}" ALTER "{column}" TYPE TIMESTAMP')
    return con


def plain(value):
    """A value of DuckDB as JSON has it: dates and times as ISO text, texts trimmed."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, float) and not math.isfinite(value):
        sys.exit(f"{value} is no truth")
    return value


def run(con, sql, expect):
    """The expectation of one SQL statement, meant as `expect` says."""
    con.execute(sql)
    columns = [it[0] for it in con.description]
    rows = [[plain(it) for it in row] for row in con.fetchall()]
    if "verdict" in expect:
        violations = rows[0][0]
        return {"verdict": "bad" if violations else "good", "violations": int(violations)}
    ordered = expect.get("ordered", False)
    if not ordered:
        rows.sort(key=lambda row: json.dumps(row, ensure_ascii=False))
    if len(rows) > ROWS_MAX and not expect.get("chart"):
        return {"row_count": len(rows)}
    result = {"columns": columns, "rows": rows, "ordered": ordered}
    if expect.get("chart"):
        result["chart"] = True
    return result


def renew(con, question):
    """The question with its truth computed anew."""
    if "either" in question:
        for reading in question["either"]:
            reading["expect"] = run(con, reading["sql"], reading["expect"])
    elif "sql" in question:
        question["expect"] = run(con, question["sql"], question["expect"])
    return question


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file would change")
    check = parser.parse_args().check
    con = connect()
    n_questions = 0
    differing = []
    for path in sorted(it for name in ("seen", "fresh", "unseen") for it in HERE.glob(f"{name}/*.jsonl")):
        before = path.read_text(encoding="utf-8")
        after = ""
        for line in before.splitlines():
            question = json.loads(line)
            n_questions += 1
            try:
                new = json.dumps(renew(con, question), ensure_ascii=False)
            except Exception as error:
                sys.exit(f"{path.name}: {question['id']}: {error}")
            if check and json.loads(line) != json.loads(new):
                differing.append(f"{path.parent.name}/{path.name}: {question['id']}")
            after += new + "\n"
        if not check and after != before:
            path.write_text(after, encoding="utf-8")
    for it in differing:
        print(f"differs: {it}")
    print(f"{n_questions} questions, {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
