"""Compares random statements in `csv-agent query` and DuckDB, over data/*.csv.

    pip install duckdb==2.0.1
    python tests/sql/random_statements.py target/debug/csv-agent [SEED [N]]
    python tests/sql/random_statements.py golden

Prints each statement whose rows differ, that is refused here only, or there only; the last line counts. The order of rows
is not compared. Statements are of the daily kind: arithmetic, text, CASE, grouping, windows, joins of every kind with
conditions beyond equality, subqueries that use columns from outside, and set operations.

With `golden`, writes golden_random.jsonl: what DuckDB answers to those that the tests compare.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

import duckdb
import golden

COLUMNS = {
    "sales": {"int": ["id", "units"], "float": ["price", "discount"], "text": ["region", "product"], "date": "order_date"},
    "orders": {
        "int": ["order_id", "customer_id", "quantity"],
        "float": ["amount"],
        "text": ["status"],
        "date": "order_date",
    },
    "employees": {
        "int": ["emp_id", "manager_id", "salary"],
        "float": ["bonus"],
        "text": ["name", "dept"],
        "date": "hire_date",
    },
    "edges": {"int": ["id", "n"], "float": ["x"], "text": ["s"], "date": "d"},
}
# Statements of golden_random.jsonl, and the seed that they are made from.
N_GOLDEN, GOLDEN_SEED = 400, 31


class Maker:
    """Makes statements. Each method takes a table, how deep to go, and the alias of the table with its point."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pick = self.random.choice

    def column(self, table, kinds, alias=""):
        return alias + self.pick(COLUMNS[table][self.pick(kinds)])

    def number(self, table, depth=2, alias=""):
        deeper = lambda: self.number(table, depth - 1, alias)
        if depth == 0 or self.random.random() < 0.3:
            return self.column(table, ["int", "float"], alias)
        return self.pick(
            [
                lambda: self.pick(["1", "3", "0.5", "-3"]),
                lambda: f"({deeper()} {self.pick('+-*')} {deeper()})",
                lambda: f"({deeper()} / nullif({deeper()}, 0))",
                lambda: f"coalesce({deeper()}, {deeper()})",
                lambda: f"abs({deeper()})",
                lambda: f"greatest({deeper()}, {deeper()})",
                lambda: f"case when {self.condition(table, depth - 1, alias)} then {deeper()} else {deeper()} end",
                lambda: f"length({self.text(table, depth - 1, alias)})",
                lambda: f"extract({self.pick(['year', 'month', 'dow', 'week', 'doy'])} from {alias}{COLUMNS[table]['date']})",
            ]
        )()

    def text(self, table, depth=2, alias=""):
        deeper = lambda: self.text(table, depth - 1, alias)
        if depth == 0 or self.random.random() < 0.4:
            return self.column(table, ["text"], alias)
        return self.pick(
            [
                lambda: f"upper({deeper()})",
                lambda: f"substr({deeper()}, {self.random.randint(-3, 4)}, {self.random.randint(0, 4)})",
                lambda: f"({deeper()} || {deeper()})",
                lambda: f"replace({deeper()}, 'e', 'oo')",
                lambda: f"coalesce({deeper()}, 'none')",
            ]
        )()

    def condition(self, table, depth=2, alias=""):
        depth = max(depth, 0)
        deeper = lambda: self.condition(table, depth - 1, alias)
        simple = [
            lambda: f"{self.number(table, 1, alias)} {self.pick(['<', '<=', '=', '<>'])} {self.number(table, 1, alias)}",
            lambda: f"{self.text(table, 1, alias)} {self.pick(['=', '<>', '<'])} {self.text(table, 1, alias)}",
            lambda: f"{self.column(table, ['text'], alias)} like '{self.pick(['%o%', 'N%', '_e%', '%t'])}'",
            lambda: f"{self.column(table, ['int'], alias)} in (1, 3, 7{self.pick(['', ', null'])})",
            lambda: f"{self.column(table, ['int', 'float', 'text'], alias)} is {self.pick(['', 'not '])}null",
            lambda: f"{alias}{COLUMNS[table]['date']} < date '2024-0{self.random.randint(1, 9)}-11'",
        ]
        nested = [lambda: f"({deeper()} {self.pick(['and', 'or'])} {deeper()})", lambda: f"not ({deeper()})"]
        return self.pick(simple + nested if depth else simple)()

    def aggregate(self, table):
        counted = " filter (where " + self.condition(table, 1) + ")" if self.random.random() < 0.2 else ""
        text = self.column(table, ["text"])
        argument = self.pick([self.number(table, 1), self.text(table, 1)])
        call = self.pick(
            [f"{it}({self.number(table, 1)})" for it in ["sum", "avg", "median", "stddev", "var_pop", "count"]]
            + [f"{it}({argument})" for it in ["min", "max"]]
            + [f"count(distinct {argument})", "count(*)", f"bool_or({self.condition(table, 1)})"]
            + [f"string_agg({text}, '-' order by {text})"]
        )
        return call + counted

    def window(self, table):
        unique = COLUMNS[table]["int"][0]
        partition = self.pick(["", f"partition by {self.column(table, ['text'])} "])
        value = self.number(table, 1)
        ranks = ["rank()", "dense_rank()", "percent_rank()", "cume_dist()"]
        sums = [f"{it}({value})" for it in ["sum", "avg", "min", "max", "count"]]
        places = ["row_number()", "ntile(4)", f"lag({value})", f"lead({value}, 2)", f"first_value({value})"]
        frames = ["2 preceding and current row", "1 preceding and 2 following", "unbounded preceding and current row"]
        kind = self.random.randrange(3)
        if kind == 0:
            order = f"{self.column(table, ['int', 'float', 'text'])} {self.pick(['', 'desc'])}"
            return f"{self.pick(ranks + sums)} over ({partition}order by {order})"
        if kind == 1:
            return f"{self.pick(places)} over ({partition}order by {unique})"
        return f"{self.pick(sums)} over ({partition}order by {unique} rows between {self.pick(frames)})"

    def windows(self):
        # In sales, some rows are equal, and which of them comes first is open.
        table = self.pick(["orders", "employees", "edges"])
        where = self.pick(["", " where " + self.condition(table)])
        return f"select {COLUMNS[table]['int'][0]}, {self.window(table)}, {self.window(table)} from {table}{where}"

    def join(self):
        kind = self.pick(["join", "left join", "right join", "full join"])
        on = self.pick(["a.customer_id = b.emp_id", "a.quantity = b.manager_id"])
        if kind != "full join":
            more = [
                self.condition("orders", 1, "a."),
                self.condition("employees", 1, "b."),
                "a.amount > b.bonus",
            ]
            on += "".join(f" and {it}" for it in more if self.random.random() < 0.3)
        columns = f"a.order_id, b.emp_id, {self.number('orders', 1, 'a.')}, {self.text('employees', 1, 'b.')}"
        return f"select {columns} from orders a {kind} employees b on {on}"

    def subquery(self):
        inner, outer = self.condition("employees", 1), self.condition("employees", 1, "e.")
        negated = self.pick(["", "not "])
        where = self.pick(
            [
                f"customer_id {negated}in (select {self.pick(['manager_id', 'emp_id'])} from employees where {inner})",
                f"{negated}exists (select 1 from employees e where e.emp_id = o.customer_id and {outer})",
                f"amount > (select {self.pick(['avg', 'max', 'min'])}(p.amount) from orders p where p.status = o.status)",
                f"quantity >= {self.pick(['all', 'any'])} (select manager_id from employees where {inner})",
                "(select count(*) from employees e where e.manager_id = o.quantity) > 1",
                "(select coalesce(sum(e.salary), 0) from employees e where e.manager_id = o.quantity"
                " and e.bonus > o.amount) = 0",
            ]
        )
        return f"select order_id, amount from orders o where {where}"

    def statement(self):
        table = self.pick(list(COLUMNS))
        where = self.pick(["", " where " + self.condition(table)])
        key = self.pick([self.column(table, ["text"]), f"{self.column(table, ['int'])} % 3"])
        having = self.pick(["", f" having count(*) > {self.random.randint(0, 5)}"])
        set_operation = self.pick(["union", "union all", "intersect", "except", "except all", "intersect all"])
        return self.pick(
            [
                lambda: f"select {self.number(table, 3)}, {self.text(table, 3)}, {self.condition(table)} from {table}{where}",
                lambda: f"select {key}, {self.aggregate(table)}, {self.aggregate(table)} from {table}{where} group by 1{having}",
                lambda: f"select {self.aggregate(table)}, {self.aggregate(table)} from {table}{where}",
                self.windows,
                self.join,
                self.subquery,
                lambda: f"select units from sales {set_operation} select quantity from orders",
            ]
        )()


def is_same(ours, theirs):
    if isinstance(ours, bool) or isinstance(theirs, bool) or ours is None or theirs is None:
        return ours is theirs
    if isinstance(theirs, (int, float)):
        return abs(float(ours) - theirs) <= 1e-8 * max(abs(float(ours)), abs(theirs)) + 1e-9
    return ours == theirs


def key(row):
    """The text that rows are sorted by: fewer digits than they are compared with."""
    return [it if it[0] != "2" else f"2{float(it[1:]):.3e}" for it in golden.key(row)]


def golden_statements(connection):
    """Yields as many statements as the tests compare, with the answers. What DuckDB refuses is left out."""
    maker = Maker(GOLDEN_SEED)
    n_found = 0
    while n_found < N_GOLDEN:
        found = golden.answer(connection, f"random/{n_found + 1}", maker.statement())
        if "error" not in found:
            n_found += 1
            yield found


def main():
    if sys.argv[1] == "golden":
        golden.write("golden_random.jsonl", golden_statements(golden.connect()))
        return
    binary = pathlib.Path(sys.argv[1]).absolute()
    seed, n_statements = (int(it) for it in (sys.argv[2:] + ["1", "200"][len(sys.argv) - 2 :])[:2])
    connection = golden.connect()
    maker = Maker(seed)
    counts = {"same": 0, "different": 0, "refused here": 0, "refused there": 0}
    with tempfile.TemporaryDirectory() as directory:
        files = [str(golden.HERE / "data" / f"{it}.csv") for it in COLUMNS]
        subprocess.run([binary, "ingest", "-q", *files], cwd=directory, check=True, stdout=subprocess.DEVNULL)
        for _ in range(n_statements):
            sql = maker.statement()
            try:
                rows = [[golden.plain(it) for it in row] for row in connection.execute(sql).fetchall()]
                # JSON has no NaN and no infinity.
                rows = [[None if it in ("nan", "inf", "-inf") else it for it in row] for row in rows]
            except duckdb.Error:
                rows = None
            run = subprocess.run([binary, "query", "--json", sql], cwd=directory, capture_output=True, text=True)
            if run.returncode:
                outcome = "refused here" if rows is not None else "same"
            elif rows is None:
                outcome = "refused there"
            else:
                ours = sorted((list(it.values()) for it in json.loads(run.stdout)), key=key)
                rows = sorted(rows, key=key)
                pairs = [pair for row in zip(ours, rows) for pair in zip(*row)]
                outcome = "same" if len(ours) == len(rows) and all(is_same(*it) for it in pairs) else "different"
            counts[outcome] += 1
            if outcome != "same":
                print(f"{outcome}: {sql}\n  {run.stderr.strip()}")
    print(", ".join(f"{number} {outcome}" for outcome, number in counts.items()))


if __name__ == "__main__":
    main()
