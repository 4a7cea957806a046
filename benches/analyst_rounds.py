"""What a round costs the built-in analyst itself, on a wide table.

    python3 benches/analyst_rounds.py target/release/csv-agent            200 columns, 100,000 rows
    python3 benches/analyst_rounds.py target/release/csv-agent --rows 1000000

The time between asking the analyst and its answer, as the events tell it: reading and running code are
the tools' time and not in it. The first question of a session pays for nothing that a later one does not.
"""

import argparse
import datetime
import json
import random
import subprocess
import tempfile
from pathlib import Path

QUESTION = "average metric price 10 by region, only lamp, top 2"
WORDS = ["price", "weight", "length", "score", "count", "rate", "delay", "volume", "level", "depth"]


def write(path, n_rows, n_columns):
    """Writes a table of mostly numbers. Lines repeat, so that a million of them is quick to write."""
    names = [f"metric_{WORDS[at % len(WORDS)]}_{at}" for at in range(n_columns - 4)]
    chance = random.Random(1)
    tails = [
        f"{chance.choice(['north', 'south', 'east'])},{chance.choice(['lamp', 'chair'])},"
        f"2020-01-{at % 28 + 1:02d}," + ",".join(str(chance.randint(0, 999)) for _ in names)
        for at in range(200)
    ]
    with path.open("w") as file:
        file.write("id,region,product,day," + ",".join(names) + "\n")
        for row in range(n_rows):
            file.write(f"{row},{tails[row % len(tails)]}\n")


def rounds_ms(events):
    """How long the analyst took in each round."""
    asked, taken = None, []
    for line in events.splitlines():
        event = json.loads(line)
        if event.get("phase") in ("model_request", "model_response"):
            at = datetime.datetime.fromisoformat(event["ts"].replace("Z", "+00:00"))
            if event["phase"] == "model_request":
                asked = at
            else:
                taken.append((at - asked).total_seconds() * 1e3)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=200)
    args = parser.parse_args()
    binary = str(Path(args.binary).resolve())
    with tempfile.TemporaryDirectory() as home:
        table = Path(home) / "wide.csv"
        write(table, args.rows, args.columns)
        session = [binary, "--session-dir", str(Path(home) / "session")]
        subprocess.run([*session, "ingest", "-q", "--max-bytes", "2GB", str(table)], check=True, capture_output=True)
        ask = [*session, "ask", "--fresh", "--model", "builtin", "--format", "jsonl", QUESTION]
        runs = [
            rounds_ms(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)
            for _ in range(5)
        ]
    print("| round | median ms | largest ms |\n|---:|---:|---:|")
    for at, taken in enumerate(zip(*runs), start=1):
        print(f"| {at} | {sorted(taken)[len(taken) // 2]:.0f} | {max(taken):.0f} |")


if __name__ == "__main__":
    main()
