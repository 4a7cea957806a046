#!/usr/bin/env python3
"""How often the built-in analyst draws the chart that people asked for, on the NLV corpus.

    benches/nlv.py BIN DIR [--sample N] [--seed 6] [--show right|other|table|answer|refused] [--kind NAME] [--jobs 2]

The corpus (Srinivasan et al., CHI 2021, MIT licence) holds 814 sets of utterances, 893 in all, that people wrote
when they were shown one of 30 charts over three tables: ten kinds of chart each over cars, movies and superstore.
They were not told to name columns, so a part of them does not say which chart is meant ("How many heavy cars are
in the dataset?" stands for a histogram of `Weight`), and nobody gets all.

DIR has `NLV_Corpus.csv`, which is the Google Sheet linked at https://nlvcorpus.github.io saved as CSV, and
`vlSpecs.json` and `datasets/` of https://github.com/nlvcorpus/nlvcorpus.github.io. A fork that has them together is
`dataset/nlv_corpus` in https://github.com/JetBrains-Research/EDAplot.

The utterances of a set are asked one after another in one session, as follow-ups, and the last answer counts:

right    it has a chart of exactly the columns of the corpus' chart, and the mark fits
other    it has a chart of other columns or with another mark
table    it has no chart, and was read as a question about exactly these columns
answer   it has no chart, and was read as another question
refused  exit 9

A chart's columns are those on its axes and of its series: a series named after a value stands for the column that
has the value. The mark fits when a scatter plot of rows is a scatter plot of rows, a line is a line along the same
axis, and a bar is a bar, a column or a stacked column over one of the corpus' categories; a histogram has bins. How
values are aggregated is not compared: the corpus' charts say `sum` under the title `AVG`. Needs no package.
"""

import argparse
import csv
import json
import random
import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OUTCOMES = ("right", "other", "table", "answer", "refused")
MARKS = {"point": ("scatter",), "line": ("line",), "bar": ("bar", "column", "stacked_column")}
CHANNELS = ("x", "y", "color", "column")
DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}")


def slug(name):
    return re.sub(r"\W+", "_", name.lower()).strip("_")


def tables(folder):
    """Returns the distinct values of each column of each table. The tables are in Windows-1252."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="", encoding="cp1252") as file:
            rows = list(csv.DictReader(file))
        found[path.stem] = {column: {row[column] for row in rows} for column in rows[0]}
    return found


def ask(binary, session, utterance, is_fresh):
    """Asks one question. Returns the exit code, the charts and what was said."""
    command = [binary, "--session-dir", session, "ask", "--model", "builtin", "--format", "jsonl"]
    run = subprocess.run([*command, *["--fresh"] * is_fresh, utterance], capture_output=True, text=True)
    events = [json.loads(it) for it in run.stdout.splitlines()]
    text = next((it["text"] for it in events if it["type"] == "reply"), run.stderr)
    return {"exit": run.returncode, "charts": [it for it in events if it["type"] == "chart"], "text": text}


def read_as(text, columns):
    """Returns the columns that the question was read to be about, in order, without those of its filters."""
    reading = next((it for it in text.splitlines() if it.startswith("I read this as")), "")
    about = reading.split(" where ")[0].split(". ")[0]
    return [it for it in re.findall(r"`([^`]+)`", about) if it in columns]


def shown(chart, about, columns):
    """Returns the column along the first axis of a chart, and all that it shows."""
    names = {slug(it): it for it in columns}
    x = names.get(slug(chart["x_field"]))
    if x is None:
        # Bins, and the months or years of a date.
        dates = [it for it in about if any(DATE.fullmatch(value) for value in columns[it])]
        x = (dates or about or [None])[0]
    found, values = {x}, []
    for series in chart["series"]:
        field = slug(series["y_field"])
        column = next((it for name, it in names.items() if field == name or field.endswith(f"_{name}")), None)
        if column:
            found.add(column)
        else:
            values.append(series["y_field"])
    by = [it for it in about if values and all(value in columns[it] for value in values)]
    if by:
        found.add(by[0])
        found.update([it for it in about if it not in (x, by[0])][:1])
    return x, found - {None}


def fits(chart, x, spec):
    """Whether the mark of a chart is that of a chart of the corpus."""
    encoding, mark = spec["encoding"], spec["mark"]["type"]
    if chart["chart_type"] not in MARKS[mark]:
        return False
    # Means by group are no rows.
    if mark == "point" and any(re.match(r"(mean|total|sum|median|count)_", it["y_field"]) for it in chart["series"]):
        return False
    axes = {"point": ("x", "y"), "line": ("x",), "bar": ("x", "column", "color")}[mark]
    is_binned = chart["x_field"] == "from"
    return x in [encoding.get(it, {}).get("field") for it in axes] and is_binned == bool(encoding["x"].get("bin"))


def judge(answer, spec, columns):
    """Returns one of `OUTCOMES`, and the columns of the answer."""
    encoding = spec["encoding"]
    wanted = {encoding[it]["field"] for it in CHANNELS if "field" in encoding.get(it, {})}
    about = read_as(answer["text"], columns)
    if answer["exit"] == 9:
        return "refused", set()
    if not answer["charts"]:
        return "table" if set(about) == wanted else "answer", set(about)
    chart = answer["charts"][-1]
    x, has = shown(chart, about, columns)
    return "right" if has == wanted and fits(chart, x, spec) else "other", has


def converse(binary, folder, line, specs, columns):
    """Asks the utterances of a set in a session of their own. Returns what became of the last."""
    name = line["dataset"].lower()
    with tempfile.TemporaryDirectory() as session:
        ingest = [binary, "--session-dir", session, "ingest", "-q", str(folder / f"{name}.csv")]
        subprocess.run(ingest, check=True, capture_output=True)
        for n, utterance in enumerate(line["Utterance Set"].split("|")):
            answer = ask(binary, session, utterance.strip(), n == 0)
    outcome, has = judge(answer, specs[f"{name}-{line['visId']}"], columns[name])
    return line, answer, outcome, has


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, help="only so many sets, drawn at random")
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--show", action="append", default=[], choices=OUTCOMES)
    parser.add_argument("--kind", help="only charts of this kind, such as `histogram`")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    binary = str(Path(options.binary).resolve())
    specs = json.loads((options.folder / "vlSpecs.json").read_text())
    for spec in specs.values():
        spec["mark"] = spec["mark"] if isinstance(spec["mark"], dict) else {"type": spec["mark"]}
    columns = tables(options.folder / "datasets")
    with (options.folder / "NLV_Corpus.csv").open(newline="", encoding="utf-8") as file:
        lines = [it for it in csv.DictReader(file) if options.kind in (None, it["visId"])]
    if options.sample:
        lines = random.Random(options.seed).sample(lines, min(options.sample, len(lines)))
    counts = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        work = pool.map(lambda it: converse(binary, options.folder / "datasets", it, specs, columns), lines)
        for line, answer, outcome, has in work:
            for kind in (line["visId"], line["dataset"], "follow-ups" if line["sequential"] == "y" else "", "all"):
                counts.setdefault(kind, Counter())[outcome] += 1
            if outcome in options.show:
                said = [it for it in answer["text"].splitlines() if it]
                read = next((it for it in said if it.startswith("I read")), said[0] if said else "")
                chart = answer["charts"][-1]["chart_type"] if answer["charts"] else "no chart"
                print(f"{outcome:8} {line['dataset']}-{line['visId']}: {line['Utterance Set']}")
                print(f"         {chart} of {', '.join(sorted(has)) or 'nothing'}; {read[:250]}", flush=True)
    print(f"| charts | sets | {' | '.join(OUTCOMES)} |\n|---|---:|{'---:|' * len(OUTCOMES)}")
    counts.pop("", None)
    whole = counts.pop("all")
    for kind, of in [*counts.items(), ("all", whole)]:
        print(f"| {kind} | {of.total()} | {' | '.join(str(of[it]) for it in OUTCOMES)} |")
    print("; ".join(f"{it} {100 * whole[it] / whole.total():.1f} %" for it in OUTCOMES))


if __name__ == "__main__":
    main()
