"""Writes golden.jsonl: what DuckDB answers to the statements of corpus.sql over data/*.csv.

    pip install duckdb==2.0.1 && python tests/sql/golden.py

A line is {"name", "sql", "error"} or {"name", "sql", "types", "n_rows", "rows", "ordered"}: the first rows in the
order of the statement, or of their text when it has none.
"""

import datetime
import decimal
import json
import pathlib

import duckdb

HERE = pathlib.Path(__file__).parent
ROWS_MAX = 25
TYPES = {
    "sales": "id BIGINT, region VARCHAR, product VARCHAR, order_date DATE, price DOUBLE, units BIGINT, "
    "discount DOUBLE, is_online BOOLEAN",
    "employees": "emp_id BIGINT, name VARCHAR, dept VARCHAR, manager_id BIGINT, salary BIGINT, hire_date DATE, "
    "bonus DOUBLE",
    "customers": "customer_id BIGINT, name VARCHAR, city VARCHAR, segment VARCHAR, signup DATE",
    "orders": "order_id BIGINT, customer_id BIGINT, product_id BIGINT, order_date DATE, quantity BIGINT, "
    "amount DOUBLE, status VARCHAR",
    "products": "product_id BIGINT, name VARCHAR, category VARCHAR, price DOUBLE",
    "events": "event_id BIGINT, user_id BIGINT, ts TIMESTAMP, end_ts TIMESTAMP, tod TIME, kind VARCHAR, ok BOOLEAN, "
    "val DOUBLE",
    "texts": "tid BIGINT, s VARCHAR, n BIGINT, sep VARCHAR",
    "nums": "k BIGINT, g VARCHAR, i BIGINT, j BIGINT, f DOUBLE, h DOUBLE, big BIGINT, z BIGINT",
    "odd": '"Order" BIGINT, "group" VARCHAR, "Total Sales" DOUBLE, "select" VARCHAR, "CamelCase" BIGINT, '
    '"year" BIGINT, "a-b" BIGINT, "value%" DOUBLE',
    "empty": "id BIGINT, x BIGINT, y DOUBLE, s VARCHAR, d DATE",
}


def plain(value):
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, float) and value != value:
        return "nan"
    if isinstance(value, float) and abs(value) == float("inf"):
        return "inf" if value > 0 else "-inf"
    return value


def key(row):
    """The text that rows without an order are sorted by; tests/it/queries.rs makes the same."""
    texts = []
    for value in row:
        if value is None:
            texts.append("0")
        elif isinstance(value, bool):
            texts.append(f"1{str(value).lower()}")
        elif isinstance(value, (int, float)):
            texts.append(f"2{float(value):.5e}")
        else:
            texts.append(f"3{value}")
    return texts


def connect():
    """Returns a connection to a database with the tables."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for table, columns in TYPES.items():
        connection.execute(f'CREATE TABLE "{table}" ({columns})')
        path = HERE / "data" / f"{table}.csv"
        connection.execute(f"COPY \"{table}\" FROM '{path}' (HEADER, NULLSTR '', ALLOW_QUOTED_NULLS false)")
    return connection


def main():
    connection = connect()
    with open(HERE / "golden.jsonl", "w") as out:
        for block in (HERE / "corpus.sql").read_text().split("-- name: ")[1:]:
            name, sql = block.split("\n", 1)
            answer = {"name": name.strip(), "sql": sql.strip()}
            try:
                cursor = connection.execute(answer["sql"])
                rows = [[plain(it) for it in row] for row in cursor.fetchall()]
                types = [str(it[1]) for it in cursor.description]
                ordered = "order by" in answer["sql"].lower().rsplit(")", 1)[-1]
                rows = rows if ordered else sorted(rows, key=key)
                answer |= {"types": types, "n_rows": len(rows), "ordered": ordered, "rows": rows[:ROWS_MAX]}
            except Exception as error:
                answer["error"] = str(error).split("\n")[0]
            json.dump(answer, out, ensure_ascii=False, default=str)
            out.write("\n")


if __name__ == "__main__":
    main()
