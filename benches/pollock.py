#!/usr/bin/env python3
"""Scores csv-agent and its peers on Pollock: 2 290 polluted copies of one file, each with its truth.

    benches/pollock.py PATH/TO/csv-agent PATH/TO/Pollock [--only REGEX] [--gaps]

Pollock is the benchmark of Vitagliano et al., "Pollock: A Data Loading Benchmark" (VLDB 2023); the second
path is a checkout of github.com/HPI-Information-Systems/Pollock. Every system reads every file without a
hint. The score is the sum of ten measures between 0 and 1: success, and precision, recall and F1 of header,
records and cells; `weighted` counts a file as often as its pollution occurs in the wild.

Cells are compared by meaning, so that typed readers are not punished for their types: `28/01/2018` is
2018-01-28, `00:15:00` is `00:15`, `2.0` is 2. Of the file without a header, the truth has its first record
for one; names made up above all of the records are as good. `--gaps` prints what csv-agent missed, file by file. The peers
live in a virtual environment under the cache directory of `benches/ingest.py`.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import re

from readers import SYSTEMS, load, meaning, with_peers

NO_HEADER = "file_no_header.csv"


def overlap(truth, found):
    """Precision, recall and F1 of two multisets."""
    truth, found = collections.Counter(truth), collections.Counter(found)
    if not truth:
        return 1.0, 1.0, 1.0
    both = (truth & found).total()
    if not both:
        return 0.0, 0.0, 0.0
    precision, recall = both / found.total(), both / truth.total()
    return precision, recall, 2 * precision * recall / (precision + recall)


def measures(truth, found):
    if not truth:
        return [1.0] * 10
    if not found:
        return [1.0] + [0.0] * 9
    truth, found = ([[meaning(cell) for cell in row] for row in table] for table in (truth, found))
    records = [["".join(row) for row in table[1:]] for table in (truth, found)]
    cells = [[cell for row in table for cell in row] for table in (truth, found)]
    return [1.0, *overlap(truth[0], found[0]), *overlap(*records), *overlap(*cells)]


def score(system, name, root, binary):
    """The measures of one file, and what the system said when it failed."""
    with open(root / "clean" / name, encoding="utf-8-sig", newline="") as file:
        truth = list(csv.reader(file))
    try:
        found = load(system, str(root / "csv" / name), binary)
    except Exception as error:  # whatever a peer raises: it did not load the file
        # An empty file is no table; to say so is right.
        return [0.0 if truth else 1.0] * 10, str(getattr(error, "stderr", error))
    results = [measures(truth, found)]
    if name == NO_HEADER:
        results.append(measures([found[0], *truth], found))
    return max(results, key=sum), ""


def run(arguments):
    root = arguments.pollock / "polluted_files"
    names = sorted(it.name for it in (root / "csv").iterdir() if re.search(arguments.only, it.name))
    weights = json.loads((arguments.pollock / "pollock_weights.json").read_text())
    print("| system | simple | weighted | success | header F1 | record F1 | cell F1 |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for system in SYSTEMS[:1] if arguments.gaps else SYSTEMS:
            jobs = [pool.submit(score, system, name, root, arguments.binary) for name in names]
            results = [job.result() for job in jobs]
            means = [sum(it[0][at] for it in results) / len(results) for at in range(10)]
            total = sum(weights[name] for name in names)
            weighted = sum(weights[name] * sum(it[0]) for name, it in zip(names, results)) / total
            shown = [means[0], means[3], means[6], means[9]]
            print(f"| {system} | {sum(means):.3f} | {weighted:.3f} | " + " | ".join(f"{it:.4f}" for it in shown) + " |")
            if arguments.gaps:
                for name, (found, error) in sorted(zip(names, results), key=lambda it: sum(it[1][0])):
                    if sum(found) < 9.995:
                        parts = f"header {found[3]:.2f} records {found[6]:.2f} cells {found[9]:.2f}"
                        print(f"{sum(found):6.3f} {name}: {parts} {error.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("binary")
    parser.add_argument("pollock", type=pathlib.Path)
    parser.add_argument("--only", default="", help="score the files whose name matches")
    parser.add_argument("--gaps", action="store_true", help="list what csv-agent missed; leave the peers out")
    arguments = parser.parse_args()
    with_peers(lambda: run(arguments))


if __name__ == "__main__":
    main()
