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
    "edges": "id BIGINT, n BIGINT, x DOUBLE, s VARCHAR, d DATE, b BOOLEAN",
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


def answer(connection, name, sql):
    """Returns what DuckDB says to a statement."""
    found = {"name": name, "sql": sql}
    try:
        cursor = connection.execute(sql)
        rows = [[plain(it) for it in row] for row in cursor.fetchall()]
        types = [str(it[1]) for it in cursor.description]
        ordered = "order by" in sql.lower().rsplit(")", 1)[-1]
        rows = rows if ordered else sorted(rows, key=key)
        return found | {"types": types, "n_rows": len(rows), "ordered": ordered, "rows": rows[:ROWS_MAX]}
    except Exception as error:
        return found | {"error": str(error).split("\n")[0]}


def write(file, answers):
    with open(HERE / file, "w") as out:
        for it in answers:
            json.dump(it, out, ensure_ascii=False, default=str)
            out.write("\n")


def main():
    connection = connect()
    blocks = [it.split("\n", 1) for it in (HERE / "corpus.sql").read_text().split("-- name: ")[1:]]
    write("golden.jsonl", (answer(connection, name.strip(), sql.strip()) for name, sql in blocks))


if __name__ == "__main__":
    main()
