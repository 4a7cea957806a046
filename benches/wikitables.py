#!/usr/bin/env python3
"""How often the built-in analyst answers the questions of WikiTableQuestions, by what it computed.

    benches/wikitables.py BIN DIR [--split pristine-unseen-tables] [--sample 500] [--seed 6]
                          [--show right|refused|wrong] [--jobs 2]

WikiTableQuestions (Pasupat and Liang, ACL 2015, CC BY-SA 4.0) holds 22,033 questions that people asked over 2,108
tables of Wikipedia, with the answers they gave. DIR is a checkout of https://github.com/ppasupat/WikiTableQuestions.
The default split is its test set; `random-split-1-dev` is for looking at what goes wrong.

Each table is ingested as it comes, and each question of the sample asked without what was asked before.

right    the answer is in the last table that was computed: a column has just the expected values, in any order
         and whatever columns stand beside it, or a single row holds them
refused  exit 9
wrong    all else, a timeout or an error included

Texts are compared as the official evaluator does, without case, accents, brackets at the end and footnotes; numbers
by value, dates by day. It is stricter than that evaluator in that it does not know its parsed dates, and more
lenient in that a table may have more columns than were asked for. Needs no package.
"""

import argparse
import csv
import random
import re
import subprocess
import tempfile
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from analyst import ask, same

OUTCOMES = ("right", "refused", "wrong")
NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+%?")


def questions(path):
    """Reads a split: lines of tabs, with the backslash as the escape."""
    def clear(text):
        return text.replace("\\n", "\n").replace("\\p", "|").replace("\\\\", "\\")
    with path.open(encoding="utf-8") as file:
        names = next(file).rstrip("\n").split("\t")
        for line in file:
            row = dict(zip(names, line.rstrip("\n").split("\t")))
            yield {"id": row["id"], "question": clear(row["utterance"]), "table": row["context"],
                   "expect": [clear(it) for it in row["targetValue"].split("|")]}


def meaning(value):
    """Returns a cell in the form in which cells are compared."""
    if not isinstance(value, str):
        return value
    text = "".join(it for it in unicodedata.normalize("NFKD", value) if unicodedata.category(it) != "Mn")
    text = re.sub("[‘’´`]", "'", re.sub("[“”]", '"', re.sub("[‐‑‒–—−]", "-", text)))
    before = None
    while text != before:
        before = text
        text = re.sub(r"((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$", "", text.strip())
        text = re.sub(r"(?<!^)( \([^)]*\))*$", "", text.strip())
        text = re.sub(r'^"([^"]*)"$', r"\1", text.strip())
    text = re.sub(r"\s+", " ", text.removesuffix(".")).casefold().strip()
    return text.replace(",", "").removesuffix("%") if NUMBER.fullmatch(text) else text


def has(value, values):
    return any(same(meaning(value), meaning(it)) for it in values)


def holds(values, expected):
    """Whether values are those expected, each at least once."""
    return bool(values) and all(has(it, expected) for it in values) and all(has(it, values) for it in expected)


def judge(answer, expected):
    if answer["exit"] == 9:
        return "refused"
    frames = answer["frames"][-1:] or [answer[it] for it in ("last",) if it in answer]
    for rows in (it["rows"] for it in frames if it["row_count"] == len(it["rows"])):
        if any(holds(list(it), expected) for it in zip(*rows)):
            return "right"
        if len(rows) == 1 and 1 < len(expected) and all(has(it, rows[0]) for it in expected):
            return "right"
    said = re.match(r"\W*(yes|no)\b", answer["text"], re.IGNORECASE)
    return "right" if said and [said[1].lower()] == [it.lower() for it in expected] else "wrong"


def group(binary, folder, table, lines):
    """Asks the questions over a table, in one session."""
    with tempfile.TemporaryDirectory() as session:
        ingest = [binary, "--session-dir", session, "ingest", "-q", str(folder / table)]
        subprocess.run(ingest, capture_output=True)
        answers = [ask(binary, session, it["question"], True, False) for it in lines]
    return [(line, answer, judge(answer, line["expect"])) for line, answer in zip(lines, answers)]


def tell(line, answer, outcome):
    """Prints a question with how it was read, what came out, and what is true."""
    said = [it for it in answer["text"].splitlines() if it]
    read = next((it for it in said if it.startswith("I read")), said[0] if said else "")
    got = answer["frames"][-1:] or [answer.get("last")]
    print(f"{outcome:8} {line['id']} {line['table']}: {line['question']}")
    print(f"         {read[:250]} {answer['error'][:200]}")
    print(f"         got {str(got[0])[:200]} want {line['expect']}", flush=True)


def table_of(counts):
    """Returns the figures as a table, and in percent."""
    total = sum(counts[it] for it in OUTCOMES)
    return "\n".join([
        f"| questions | {' | '.join(OUTCOMES)} |",
        f"|---:|{'---:|' * len(OUTCOMES)}",
        f"| {total} | {' | '.join(str(counts[it]) for it in OUTCOMES)} |",
        "; ".join(f"{it} {100 * counts[it] / max(1, total):.1f} %" for it in OUTCOMES),
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="pristine-unseen-tables")
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--show", action="append", default=[], choices=OUTCOMES)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    binary = str(Path(options.binary).resolve())
    lines = list(questions(options.folder / "data" / f"{options.split}.tsv"))
    by_table = {}
    for line in random.Random(options.seed).sample(lines, min(options.sample, len(lines))):
        by_table.setdefault(line["table"], []).append(line)
    counts = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda it: group(binary, options.folder, *it), by_table.items()):
            for line, answer, outcome in results:
                counts[outcome] += 1
                if outcome in options.show:
                    tell(line, answer, outcome)
    print(table_of(counts))


if __name__ == "__main__":
    main()
