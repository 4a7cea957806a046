#!/usr/bin/env python3
"""What drawing a chart of 200 rows and 10 series costs, as SVG and PNG, through the binary.

    benches/chart.py path/to/csv-agent [python with matplotlib and vl-convert-python]

A loopback server plays a model. One turn draws CHARTS charts of a type; another makes the same calls
with a series that does not exist, so that nothing is drawn. The difference, by chart, is the figure: it
has the transfer of the data and the writing of the files in it. The peers, matplotlib and vl-convert,
which draws with Vega-Lite, draw the same rows in a warm process to memory; their imports are not counted.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

from model import FIRST_S, environment, serve

CHARTS, RUNS = 20, 5
MADE = """
import pandas as pd
many = pd.DataFrame({"day": pd.date_range("2023-01-01", periods=200).strftime("%Y-%m-%d")})
for it in range(10):
    many[f"y{it}"] = [float((row * 7919 + it * 104729) % 1000 + row * (it + 1)) for row in range(200)]
len(many)
"""
PEER = """
import io, sys, time
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
x = list(range(200))
series = [[float((row * 7919 + it * 104729) % 1000 + row * (it + 1)) for row in x] for it in range(10)]
times = []
for _ in range(5):
    start = time.perf_counter()
    figure, axes = plt.subplots(figsize=(9.6, 5.4), dpi=100)
    for at, it in enumerate(series):
        if sys.argv[1] == "line":
            axes.plot(x, it, label=f"y{at}")
        elif sys.argv[1] == "scatter":
            axes.scatter(x, it, label=f"y{at}")
        else:
            axes.bar([row + at / 12 for row in x], it, 1 / 12, label=f"y{at}")
    axes.legend()
    for kind in ("svg", "png"):
        figure.savefig(io.BytesIO(), format=kind)
    plt.close(figure)
    times.append(time.perf_counter() - start)
print(sorted(times)[2] * 1000)
"""

VEGA_LITE = """
import json, sys, time
import vl_convert
rows = [{"day": row, "series": f"y{it}", "value": float((row * 7919 + it * 104729) % 1000 + row * (it + 1))}
        for row in range(200) for it in range(10)]
kind = sys.argv[1]
mark = {"line": "line", "scatter": "point"}.get(kind, "bar")
value = {"field": "value", "type": "quantitative", "stack": kind == "stacked_column"}
day = {"field": "day", "type": "ordinal" if mark == "bar" else "quantitative"}
encoding = {"x": day, "y": value, "color": {"field": "series"}}
if kind == "bar":
    encoding = {"y": day, "x": value, "color": {"field": "series"}, "yOffset": {"field": "series"}}
if kind == "column":
    encoding["xOffset"] = {"field": "series"}
spec = json.dumps({"data": {"values": rows}, "mark": mark, "encoding": encoding, "width": 960, "height": 540})
times = []
for _ in range(6):
    start = time.perf_counter()
    vl_convert.vegalite_to_svg(spec)
    vl_convert.vegalite_to_png(spec)
    times.append(time.perf_counter() - start)
print(sorted(times[1:])[2] * 1000)
"""
PEERS = {"matplotlib": PEER, "vl-convert": VEGA_LITE}
MATPLOTLIB_KINDS = ("line", "scatter", "column")


def calls(kind, last):
    # Each title is another, or csv-agent would take the model for one that loops.
    specs = [spec(kind, last, f"Many, {it}") for it in range(CHARTS)]
    return [("python_repl", {"code": MADE})] + [("send_chart_to_ui", it) for it in specs]


def spec(kind, last, title):
    return {"df_name": "many", "logical_name": "many", "chart_type": kind, "x_field": "day", "x_label": None,
            "y_label": None, "title": title, "note": None,
            "series": [{"name": f"Series {it}", "y_field": f"y{it}"} for it in range(9)]
            + [{"name": "Series 9", "y_field": last}]}


def timed(binary, home, plan):
    with serve(plan) as url:
        command = [binary, "ask", "-q", "--ephemeral", "-f", "t.csv", "--max-rounds", str(CHARTS + 5), "--format", "reply", "q"]
        start = time.perf_counter()
        done = subprocess.run(command, env=environment(home, url), cwd=home, capture_output=True, text=True, timeout=120)
        seconds = time.perf_counter() - start - FIRST_S
    if done.returncode != 0 or "Done." not in done.stdout:
        sys.exit(f"the turn failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return seconds * 1000


def main():
    binary = os.path.abspath(sys.argv[1])
    python = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "t.csv"), "w") as file:
            file.write("a,b\n1,2\n3,4\n")
        for kind in ("line", "scatter", "bar", "column", "stacked_column"):
            drawn, refused = [], []
            for _ in range(RUNS):  # in turns, so that both meet the same noise
                drawn.append(timed(binary, home, calls(kind, "y9")))
                refused.append(timed(binary, home, calls(kind, "none")))
            each = (statistics.median(drawn) - statistics.median(refused)) / CHARTS
            told = f"{kind:15} {each:6.1f} ms a chart"
            for name, code in PEERS.items() if python else []:
                if name == "matplotlib" and kind not in MATPLOTLIB_KINDS:
                    continue
                ran = subprocess.run([python, "-c", code, kind], check=True, capture_output=True, text=True)
                told += f"; {name} {float(ran.stdout):.0f} ms, ratio {each / float(ran.stdout):.2f}"
            print(told, flush=True)


if __name__ == "__main__":
    main()
