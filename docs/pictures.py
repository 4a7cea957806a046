#!/usr/bin/env python3
"""Remakes docs/pictures/: what csv-agent shows, as the program itself shows it.

    docs/pictures.py path/to/csv-agent

Each picture of a terminal is one run in a pseudo-terminal of a fixed size, without a key and without
a network: the built-in analyst answers. The terminal shows examples/orders.csv; the chart and the page
show stocks.csv of the package vega_datasets. Needs: pip install rich vega_datasets. The picture of the
page needs chromium.
"""
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import vega_datasets
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURES = Path(__file__).resolve().parent / "pictures"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
DATA = Path(vega_datasets.__file__).parent / "_data"
BYTES_MAX = 150_000
# Grey on near black, and the sixteen colours; readable on a white page and on a dark one.
THEME = TerminalTheme(
    (24, 26, 31), (214, 218, 224),
    [(24, 26, 31), (224, 108, 117), (152, 195, 121), (229, 192, 123),
     (97, 175, 239), (198, 120, 221), (86, 182, 194), (214, 218, 224)],
)


def in_terminal(command, cwd, columns):
    """Returns what a command writes to a terminal of so many columns."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    dropped = ("OPENAI_", "CSV_AGENT_", "NO_COLOR", "CLICOLOR", "COLUMNS")
    env = {name: it for name, it in os.environ.items() if not name.startswith(dropped)}
    env |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": cwd}
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=terminal, stdout=terminal,
                               stderr=subprocess.DEVNULL)
    os.close(terminal)
    written = b""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:  # Linux says so when the other end is closed.
            break
        if not chunk:
            break
        written += chunk
    os.close(main)
    if process.wait() != 0:
        sys.exit(f"{' '.join(command)} failed:\n{written.decode()}")
    return written.decode().replace("\r\n", "\n").rstrip("\n")


def shown(arguments):
    """Returns the arguments as a person types them."""
    return " ".join(f'"{it}"' if " " in it or "?" in it else it for it in arguments)


def terminal(binary, cwd, columns, runs, name):
    """Draws runs of the program, one below the other, as a terminal that showed them."""
    console = Console(record=True, width=columns, file=open(os.devnull, "w"), force_terminal=True,
                      color_system="truecolor", legacy_windows=False)
    for at, arguments in enumerate(runs):
        text = in_terminal([binary, *arguments], cwd, columns)
        # Isolates steer the order of letters, and have no place of their own in a drawing.
        text = re.sub("[\u2068\u2069]", "", text)
        if at:
            console.print()
        console.print(Text.assemble(("$ ", "bold green"), f"csv-agent {shown(arguments)}"))
        console.print(Text.from_ansi(text))
    console.print()  # The drawing cuts the feet of its last line.
    svg = console.export_svg(title="csv-agent", theme=THEME, unique_id=name)
    # Nothing is fetched when the picture is opened: the reader's own font draws it.
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg)
    svg = svg.replace("Fira Code", "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas")
    assert "http" not in svg.replace("http://www.w3.org/", "").replace(
        "https://www.textualize.io", ""), "the picture fetches something"
    write(name + ".svg", svg.replace("https://www.textualize.io", "").encode())


def charts(cwd, names):
    """Takes over the charts that the last turns drew, in order."""
    turns = sorted(Path(cwd, ".csv-agent", "turns").glob("*/charts/*.svg"))
    if len(turns) < len(names):
        sys.exit(f"{len(turns)} charts were drawn, {len(names)} are wanted")
    for chart, name in zip(turns[-len(names):], names):
        write(name + ".svg", chart.read_bytes())


def page(binary, cwd, name):
    """Draws the page of all turns, open at the last one, in a browser."""
    html = os.path.join(cwd, "page.html")
    subprocess.run([binary, "show", "all", "--html", html], cwd=cwd, check=True)
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.exit("chromium is needed for the picture of the page")
    picture = os.path.join(cwd, "page.png")
    subprocess.run([browser, "--headless", "--no-sandbox", "--hide-scrollbars",
                    f"--screenshot={picture}", "--window-size=1280,800", f"file://{html}"],
                   cwd=cwd, check=True, capture_output=True)
    write(name + ".png", Path(picture).read_bytes())


def write(name, data):
    if BYTES_MAX < len(data):
        sys.exit(f"{name} has {len(data)} bytes; at most {BYTES_MAX}")
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / name).write_bytes(data)
    print(f"{name}: {len(data)} bytes")


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as cwd:
        shutil.copy(EXAMPLES / "orders.csv", cwd)
        shutil.copy(DATA / "stocks.csv", cwd)
        ask = ["ask", "--model", "builtin"]
        terminal(binary, cwd, 84, [
            ask + ["-f", "orders.csv", "amount by region, as a bar chart"],
        ], "answer")
        subprocess.run([binary, "ingest", "-q", "stocks.csv"], cwd=cwd, check=True,
                       stdout=subprocess.DEVNULL)
        ask += ["-d", "stocks"]
        subprocess.run([binary, *ask, "-q", "Plot the average price by year for each symbol"],
                       cwd=cwd, check=True, stdout=subprocess.DEVNULL)
        charts(cwd, ["chart"])
        page(binary, cwd, "page")


if __name__ == "__main__":
    main()
