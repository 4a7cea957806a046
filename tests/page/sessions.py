"""Sessions to make pages of, made by the binary itself in front of a scripted model."""
import csv
import json
import os
import subprocess
from pathlib import Path

from model import chart, fails, python, raw_call, table, text, thought

BIDI, SEPARATOR = "\u202e", "\u2028"
# Each would run, load or hide something if it were taken for more than text.
HOSTILE = [
    "</script><script>window.hit=1</script>",
    "<img src=x onerror=window.hit=2>",
    "<svg onload=window.hit=3><style>body{display:none}</style>",
    "javascript:window.hit=4",
    "<iframe srcdoc='<script>parent.hit=5</script>'></iframe>",
    "</td></tr></table></figure></section><h1>out</h1>",
    "--><!--<!doctype html>]]>",
    "&lt;b&gt; &amp;amp; &#0; &notit;",
    f"safe{BIDI}fdp.exe",
    f"one{SEPARATOR}two\u2029three",
    '"; quote\' `tick` \\ back',
    "=HYPERLINK(\"http://x.example\")",
    "{{7*7}} ${7*7} #{7*7}",
    "مرحبا \u2067بالعالم\u2069", "e\u0301 👩‍👩‍👧‍👦 \ufeff\u200b",
    "  two  spaces  ", "line\none\r\ntwo\rthree\ttab",
]


class Workshop:
    def __init__(self, binary, server, home):
        self.binary, self.server, self.home = os.path.abspath(binary), server, Path(home)
        keep = {it: os.environ[it] for it in os.environ if it.startswith(("PATH", "PIP_", "SSL_", "HTTP", "XDG_CACHE"))}
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ["HOME"], ".cache")
        self.env = {**keep, "HOME": str(home), "XDG_CACHE_HOME": cache, "TMPDIR": str(home),
                    "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": server.url}

    def run(self, session, *arguments, ok=(0,)):
        done = subprocess.run([self.binary, "-S", str(self.home / session), *arguments], env=self.env,
                              cwd=self.home, capture_output=True, timeout=300)
        assert done.returncode in ok, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout.decode()

    def ask(self, session, question, rounds, *flags, ok=(0,)):
        self.server.rounds[:] = rounds
        self.run(session, "ask", "-q", "--model", "gpt-5.1", *flags, "--", question, ok=ok)

    def page(self, session, *turns, name=None):
        path = self.home / (name or f"{session}.html")
        self.run(session, "show", *turns, "--html", str(path))
        return path

    def report(self, session, *turns, ending="html"):
        path = self.home / f"{session}-report.{ending}"
        self.run(session, "report", *turns, "-o", str(path))
        return path


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def ordinary(workshop):
    """Ten turns as people have them: verdicts, several charts and tables, failures, an interruption."""
    regions, products = ["North", "South", "East", "West"], ["Anvil", "Rope", "Tent", "Lamp", "Stove"]
    rows = [(f"2025-{month:02}-{day:02}", regions[(day + month) % 4], products[(day * month) % 5],
             -120.5 if (day, month) == (9, 4) else 900.0 + 350 * ((day * 7 + month * 3) % 11) + 40 * month,
             (day * month) % 17) for month in range(1, 13) for day in range(1, 29)]
    write(workshop.home / "orders.csv", ["date", "region", "product", "revenue", "units"], rows)
    write(workshop.home / "returns.csv", ["order_day", "product", "reason"],
          [(f"2025-{m:02}-11", products[m % 5], "damaged") for m in range(1, 13)])
    session, load = "ordinary", python("df = load('orders')\ndf['month'] = df['date'].astype(str).str[:7]")
    workshop.run(session, "ingest", "-q", "orders.csv", "returns.csv")
    ask = lambda question, rounds, *flags, **more: workshop.ask(session, question, rounds, *flags, **more)
    ask("How many orders are there, and from when?", [
        [load, python("len(df), df['date'].min(), df['date'].max()")],
        [text("There are **336 orders**, from 2025-01-01 to 2025-12-28.")]])
    by_month = "m = df.groupby('month', as_index=False)['revenue'].sum().round(2)"
    by_region = ("r = df.pivot_table(index='month', columns='region', values='revenue', aggfunc='sum')"
                 ".round(2).reset_index()\nr.columns.name = None")
    by_product = "p = df.groupby('product', as_index=False).agg(revenue=('revenue', 'sum'), units=('units', 'sum'))"
    ask("How did revenue develop over the year, by region and by product? Show charts and tables.", [
        [thought("**Planning**\n\nThe user wants a development over months. I group by month, then by region, and "
                 "compare products."), load],
        [python(by_month + "\n" + by_region + "\n" + by_product + "\nm.head()")],
        [table("r", "revenue by month and region"), table("p", "revenue by product"),
         chart("m", "revenue by month", "line", "month", {"name": "Revenue", "y_field": "revenue"},
               title="Revenue rose through the year", y_label="EUR"),
         chart("r", "revenue by region", "stacked_column", "month", *regions, title="Every region grew",
               y_label="EUR", note="Source: orders.csv"),
         chart("p", "revenue by product", "bar", "product", {"name": "Revenue", "y_field": "revenue"},
               title="Rope sells best", y_label="EUR")],
        [text("Revenue **rose through the year**, from month to month with few exceptions.\n\n"
              "## What stands out\n\n"
              "- Every region grew; *none* lost over the year.\n"
              "- Products are close together: see the bar chart.\n\n"
              "| Question | Where |\n|---|---|\n| by region | table 1 |\n| by product | table 2 |\n\n"
              "The code is `groupby` and `pivot_table`, nothing else. See [the definition of revenue]"
              "(https://example.com/revenue) in your handbook.\n")]])
    verdict = {"text": "One day has **negative revenue**, and two dates are missing from each month.",
               "findings": [{"severity": "bad", "message": "Revenue is negative on 2025-04-09.", "dataset": "orders",
                             "column": "revenue", "rows": [92], "table": "negative days"},
                            {"severity": "warning", "message": "No order on the 29th to the 31st of any month.",
                             "dataset": "orders", "column": "date", "rows": [], "table": None}],
               "assessment": "bad"}
    ask("Is the revenue plausible?", [
        fails(429, "Rate limit reached", retry_after="1"),
        [load, python("bad = df[df['revenue'] < 0]\nbad")],
        [python("df.groupby('regoin')['revenue'].sum()")],
        [table("bad", "negative days")],
        [text(json.dumps(verdict))]], "--verdict")
    ask("Which products were returned most often?", [
        [python("b = load('returns').groupby('product', as_index=False).size().rename(columns={'size': 'returns'})\nb")],
        [chart("b", "returns by product", "column", "product", "returns", title="Returns by product")],
        [text("Lamp, Rope and Tent each came back three times or twice; the reason is always *damaged*.")]])
    ask("What will revenue be next March?", [fails(400, "The model `m` is not available to this account")], ok=(5, 6))
    ask("Average revenue by region, without showing rows to the model?", [
        [load, python("a = df.groupby('region', as_index=False)['revenue'].mean().round(2)\na")],
        [table("a", "mean revenue by region")], [text("See the table.")]], "--no-rows")
    good = {"text": "All dates of `orders` are valid days of 2025.", "findings": [], "assessment": "good"}
    ask("Are all dates valid?", [[load], [python("df['date'].isna().sum()")], [text(json.dumps(good))]], "--verdict")
    ask("Plot each order.", [
        [load, chart("df", "each order", "scatter", "units", "revenue")],
        [text("There are more than 200 orders, so a chart cannot show each; the summary by month is in turn 2. "
              "Revenue per order is 12345.67 on average.")]])
    ask("Show me all orders.", [[load], [table("df", "all orders")], [text("All 336 orders are in the table.")]])
    long = "Which region had the best month, and by how much? " + "Please be careful: months are not equally long. " * 12
    ask(long, [[load, python(by_region + "\nr.max(numeric_only=True)")],
               [text("The best month of any region is in the table of turn 2.")]])
    return session


def hostile(workshop):
    """Everything that others say is hostile: names, cells, code, answers, errors."""
    rows = [[it, it[::-1], at, it] for at, it in enumerate(HOSTILE)]
    rows += [["nul\0byte", "", "", ""], ["long", "ä" * 1_000_000, 1, "x" * 1_000_000]]
    name = "<img src=x onerror=window.hit=6>"
    write(workshop.home / f"{name}.csv".replace("/", "_"), ["a", HOSTILE[0], "n", HOSTILE[1]], rows)
    session = "hostile"
    workshop.run(session, "ingest", "-q", f"{name}.csv", "--name", "data")
    nasty = repr(HOSTILE)
    code = (f"import pandas as pd\nh = {nasty}\n"
            "df = pd.DataFrame({'text': h + ['nul\\0byte', '', None, 'w' * 1_000_000],"
            " h[1]: [float(i) if i % 3 else None for i in range(len(h) + 4)],"
            " 'n': [10 ** 17 + i for i in range(len(h) + 4)]})\n"
            "df[h[0]] = df['text']\ndf['numeral'] = [str(i) for i in range(len(df))]\nc = pd.DataFrame({h[0]: h, h[1]: range(len(h)), h[8]: range(len(h))})\ndf")
    md = "\n\n".join(HOSTILE) + ("\n\n[a](javascript:window.hit=7) [b](data:text/html,<script>parent.hit=8</script>) "
                                 "![x](https://x.example/pixel.png) <b onclick=window.hit=9>b</b>\n\n"
                                 "&#x202e;fdp.exe&#8232; [c](https://x.example/&#x202e;gpj.exe)\n\n"
                                 "| a | b |\n|--:|:-:|\n| <i>x | y |\n\n```html\n<script>window.hit=10</script>\n```\n")
    for at, question in enumerate([HOSTILE[0] + HOSTILE[1], HOSTILE[5] + HOSTILE[8]]):
        workshop.ask(session, question, [
            [thought(HOSTILE[0] + md), python(code)],
            [python("raise ValueError(h[0] + h[1] + h[9])"), raw_call("no_such_tool", HOSTILE[0])],
            [table("df", HOSTILE[1]), table("c", HOSTILE[0]),
             chart("c", HOSTILE[0], "column", HOSTILE[0], HOSTILE[1], HOSTILE[8], title=HOSTILE[0], note=HOSTILE[1],
                   x_label=HOSTILE[2], y_label=HOSTILE[6]),
             chart("c", HOSTILE[5], "nonsense", HOSTILE[0], HOSTILE[1])],
            [text(md)]])
    workshop.ask(session, HOSTILE[2], [fails(400, HOSTILE[0] + HOSTILE[1])], ok=(5, 6))
    return session


def large(workshop, n_turns=20, n_rows=2_000):
    """As many rows as events hold, in each of the turns."""
    session = "large"
    write(workshop.home / "seed.csv", ["a"], [[1]])
    workshop.run(session, "ingest", "-q", "seed.csv")
    make = (f"import numpy as np\nn = {n_rows}\nd = pd.DataFrame({{'id': np.arange(n), 'day': pd.date_range('2020-01-01', "
            "periods=n), 'city': np.resize(['Lisbon', 'Oslo', 'Kyiv', 'Quito'], n), 'amount': np.round(np.random.rand(n)"
            " * 1e5, 2), 'share': np.random.rand(n), 'code': [f'{i:06}' for i in range(n)], 'flag': np.arange(n) % 3 == 0,"
            " 'at': pd.date_range('2020-01-01', periods=n, freq='37min'), 'note': ['a few words on row %d' % i for i in "
            "range(n)], 'count': np.arange(n) * 7919 % 100003})\nlen(d)")
    for at in range(n_turns):
        workshop.ask(session, f"All rows, question {at + 1}", [
            [python(make)], [table("d", "all rows")], [text("Here they are.")]])
    return session
