"""How often the built-in analyst is right, declines, and is wrong.

    benches/analyst.py BIN [--set seen|fresh|unseen|plain] [--table NAME] [--every N] [--show wrong|refused|right] [--jobs 2]

Asks every question (or every Nth, with those that take it up) of `tests/analyst` through the binary and compares the answer with the truth of each,
by the rules of `tests/analyst/README.md`. Needs no package.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / "tests" / "analyst"
OPTIONS = json.loads((HOME / "tables" / "tables.json").read_text())


def arguments(binary, session, table):
    """Returns the command that ingests a table."""
    options = OPTIONS.get(table, {})
    flags = [it for null in options.get("null", []) for it in ("--null", null)]
    flags += [it for column in options.get("text", []) for it in ("--dtype", f"{column}=string")]
    return [binary, "--session-dir", session, "ingest", "-q", *flags, str(HOME / "tables" / table)]


def ask(binary, session, question, fresh, verdict):
    """Asks a question. Returns what the analyst answered."""
    command = [binary, "--session-dir", session, "ask", "--model", "builtin", "--format", "jsonl"]
    command += ["--fresh"] * fresh + ["--verdict"] * verdict + [question]
    run = subprocess.run(command, capture_output=True, text=True)
    events = [json.loads(line) for line in run.stdout.splitlines()]
    answer = {"exit": run.returncode, "frames": [], "text": "", "verdict": None, "charts": 0}
    for event in events:
        if event["type"] == "data_frame":
            frame = event
            rows = [list(it.values()) if isinstance(it, dict) else it for it in frame["rows"]]
            answer["frames"].append({"columns": frame["columns"], "rows": rows, "row_count": frame["row_count"]})
        elif event["type"] == "chart":
            answer["charts"] += 1
        elif event["type"] == "tool_result" and (event.get("result") or {}).get("result_name") == "result":
            result = event["result"]
            answer["last"] = {"columns": result["columns"], "rows": [list(it.values()) for it in result["head"]],
                              "row_count": result["row_count"]}
        elif event["type"] == "reply":
            answer["text"] = event["text"]
            answer["verdict"] = (event.get("assessment"))
    answer["error"] = run.stderr if run.returncode not in (0, 9, 10, 11) else ""
    return answer


def plain(value):
    """Returns a cell in the form in which cells are compared."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        return float(value)
    text = str(value).strip()
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return float(text)
    if match := re.fullmatch(r"(\d{4})-?Q([1-4])", text):
        return f"{match[1]}-{int(match[2]) * 3 - 2:02}-01"
    if re.fullmatch(r"\d{4}-\d{2}", text):
        return f"{text}-01"
    for form in ("%b %d %Y", "%b %d, %Y", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%m/%d/%Y", "%B %d %Y",
                 "%d %B %Y", "%m/%d/%y %H:%M"):
        try:
            text = datetime.strptime(text, form).isoformat()
            break
        except ValueError:
            pass
    text = text.replace(" ", "T", 1) if re.match(r"\d{4}-\d{2}-\d{2} \d", text) else text
    text = re.sub(r"(T\d{2}:\d{2})$", r"\1:00", text)
    text = re.sub(r"(Z|\+00:00)$", "", text)
    return re.sub(r"T00:00:00(\.0+)?$", "", text)


def same(one, other):
    one, other = plain(one), plain(other)
    # DuckDB, which computes the truth, reads `yes` and `no` as booleans; the analyst keeps the text.
    if isinstance(other, bool) and isinstance(one, str):
        one = {"yes": True, "no": False}.get(one.lower(), one)
    if isinstance(one, float) and isinstance(other, str) and re.fullmatch(r"\d{4}-01-01", other):
        other = float(other[:4])
    if isinstance(other, float) and isinstance(one, str) and re.fullmatch(r"\d{4}-01-01", one):
        one = float(one[:4])
    if isinstance(one, float) and isinstance(other, float):
        # The analyst rounds to four decimals.
        return abs(one - other) <= max(1e-9 * abs(other), 0.51e-4)
    return one == other


def key(value):
    value = plain(value)
    if isinstance(value, float):
        return (1, value, "")
    return (0 if value is None else 2, 0.0, str(value))


def in_order(rows):
    return sorted(rows, key=lambda row: [key(it) for it in row])


def has_table(answer, expect):
    """Whether the rows that are expected are those of the answer, by values."""
    rows, wanted = answer["rows"], expect["rows"]
    if len(rows) != len(wanted):
        flat = len(wanted) == 1 and len(rows) == len(wanted[0])
        if flat and rows:
            for column in zip(*rows):
                left = list(wanted[0])
                for cell in column:
                    hit = next((it for it in left if same(cell, it)), None)
                    if hit is not None:
                        left.remove(hit)
                if not left:
                    return True
        return False
    if not wanted:
        return True
    columns = list(zip(*rows)) if rows else []
    targets = list(zip(*wanted))

    def aligned(order, taken, at):
        if at == len(targets):
            return True
        for n, column in enumerate(columns):
            if n not in taken and all(same(column[order[it]], targets[at][it]) for it in range(len(wanted))):
                if aligned(order, taken | {n}, at + 1):
                    return True
        return False

    if aligned(list(range(len(rows))), frozenset(), 0):
        return True
    if expect.get("ordered"):
        return False
    # Rows in any order: both are sorted, by the columns that have equal sets of values.
    fits = [[n for n, column in enumerate(columns)
             if all(same(a, b) for a, b in zip(sorted(column, key=key), sorted(target, key=key)))]
            for target in targets]
    if not all(fits):
        return False

    def search(at, chosen):
        if at == len(targets):
            picked = in_order([row[n] for n in chosen] for row in rows)
            return all(same(a, b) for one, other in zip(picked, in_order(wanted)) for a, b in zip(one, other))
        return any(search(at + 1, [*chosen, n]) for n in fits[at] if n not in chosen)

    return search(0, [])


def meets(answer, expect):
    if expect.get("refusal"):
        return answer["exit"] == 9
    if "verdict" in expect:
        return answer["verdict"] == expect["verdict"]
    # What is refused may have been run, to see its result.
    if answer["exit"] == 9:
        return False
    candidates = answer["frames"] + ([answer["last"]] if "last" in answer else [])
    if expect.get("chart") and not answer["charts"]:
        return False
    if "rows" not in expect:
        return any(it["row_count"] == expect["row_count"] for it in candidates)
    return any(has_table(it, expect) for it in candidates)


def judge(answer, line):
    """Returns right, refused or wrong."""
    expected = [it["expect"] for it in line["either"]] if "either" in line else [line["expect"]]
    if any(meets(answer, it) for it in expected):
        return "right"
    if answer["exit"] == 9 and not any("verdict" in it for it in expected):
        return "refused"
    if answer["exit"] == 9 and answer["verdict"] is None:
        return "refused"
    return "wrong"


def group(binary, tables, lines):
    """Asks the questions over the same tables, in one session."""
    results = []
    with tempfile.TemporaryDirectory() as session:
        for table in tables:
            subprocess.run(arguments(binary, session, table), check=True, capture_output=True)
        for line in lines:
            expected = line["either"][0]["expect"] if "either" in line else line["expect"]
            fresh = not any("after" in it for it in lines)
            answer = ask(binary, session, line["question"], fresh, "verdict" in expected)
            results.append((line, answer, judge(answer, line)))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--set", default="seen", choices=["seen", "fresh", "unseen", "plain"])
    parser.add_argument("--table", default="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--show", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--id", default="")
    options = parser.parse_args()
    binary = str(Path(options.binary).resolve())
    groups = {}
    chains, roots = {}, {}
    for file in sorted((HOME / options.set).glob(f"{options.table}.jsonl")):
        for text in file.read_text().splitlines():
            line = json.loads(text)
            # A chain is asked in one go, so that nothing comes between its questions.
            root = chains.get(line.get("after"), line["id"])
            chains[line["id"]] = root
            roots.setdefault(root, len(roots))
            if options.id in line["id"] and roots[root] % options.every == 0:
                groups.setdefault(tuple(line["tables"]), {}).setdefault(root, []).append(line)
    # Questions that others take up have a session of their own, so that nothing else comes before them.
    work = [(tables, chain) for tables, of in groups.items() for chain in of.values() if len(chain) > 1]
    work += [(tables, [chain[0] for chain in of.values() if len(chain) == 1])
             for tables, of in groups.items()]
    counts, by_kind = Counter(), {}
    with ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda it: group(binary, *it), work):
            for line, answer, outcome in results:
                counts[outcome] += 1
                by_kind.setdefault(line["kind"], Counter())[outcome] += 1
                if outcome in options.show:
                    expected = line.get("expect") or line["either"]
                    said = answer["text"].splitlines()
                    read = next((it for it in said if it.startswith("I read")), said[0] if said else "")
                    print(f"{outcome:8} {line['id']} {line['kind']}: {line['question']}")
                    print(f"         {read[:300]}")
                    if outcome == "wrong":
                        got = answer["frames"][-1:] or [answer.get("last")]
                        print(f"         exit {answer['exit']} {answer['verdict']} got {str(got)[:200]}")
                        print(f"         want {str(expected)[:200]} {answer['error'][:200]}", flush=True)
    total = sum(counts.values())
    print("| kind | right | refused | wrong |\n|---|---:|---:|---:|")
    for kind, of in sorted(by_kind.items()):
        print(f"| {kind} | {of['right']} | {of['refused']} | {of['wrong']} |")
    print(f"| all {total} | {counts['right']} | {counts['refused']} | {counts['wrong']} |")
    for outcome in ("right", "refused", "wrong"):
        print(f"{outcome}: {100 * counts[outcome] / max(1, total):.1f} %")


if __name__ == "__main__":
    main()
