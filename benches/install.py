"""From nothing to the first answer: in an empty home, without the caches of pip and uv.

    python3 benches/install.py dist/csv_agent-*.whl

Takes the program from the wheel as well, as an archive has it. Downloads about 200 MB for each row that needs Python.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures/cassettes"
# The first needs no Python; the second runs Python code, which a recorded model wrote.
WITHOUT_PYTHON = ["--model", "builtin", "total revenue by product"]
WITH_PYTHON = ["--replay", str(FIXTURES / "table.cass.jsonl"), "q"]

# What says how to reach the network.
KEPT = ("PATH", "HTTPS_PROXY", "PIP_INDEX_URL", "UV_INDEX_URL", "SSL_CERT_FILE", "UV_SYSTEM_CERTS")


class Home:
    """An empty home, and how long its commands have taken."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="csv-agent-home-"))
        kept = {name: value for name, value in os.environ.items() if name in KEPT}
        self.environment = {**kept, "HOME": str(self.path), "TMPDIR": str(self.path)}
        self.seconds = 0.0

    def run(self, *command):
        started = time.monotonic()
        done = subprocess.run(
            [str(it) for it in command], env=self.environment, cwd=self.path, capture_output=True, text=True
        )
        self.seconds += time.monotonic() - started
        if done.returncode != 0:
            sys.exit(f"{command}\n{done.stdout}{done.stderr}")

    def ask(self, program, question):
        self.run(program, "ask", "--ephemeral", "-f", FIXTURES / "sales.csv", *question)

    def megabytes(self):
        files = (it for it in self.path.rglob("*") if it.is_file() and not it.is_symlink())
        return sum(it.stat().st_blocks * 512 for it in files) / 1e6


def archive(home, wheel):
    program = home.path / "csv-agent"
    with zipfile.ZipFile(wheel) as opened:
        [name] = [it for it in opened.namelist() if it.endswith(".data/scripts/csv-agent")]
        program.write_bytes(opened.read(name))
    program.chmod(0o755)
    return program


def pip(home, wheel):
    home.run(sys.executable, "-m", "venv", "venv")
    home.run("venv/bin/pip", "install", "--no-cache-dir", wheel)
    return home.path / "venv/bin/csv-agent"


def uv(home, wheel):
    home.run("uv", "tool", "install", "--python", sys.executable, wheel)
    return home.path / ".local/bin/csv-agent"


def main():
    wheel = Path(sys.argv[1]).resolve()
    rows = [("the program alone", archive, WITHOUT_PYTHON), ("the program alone", archive, WITH_PYTHON)]
    rows.append(("the wheel, pip", pip, WITH_PYTHON))
    if shutil.which("uv"):
        rows.append(("the wheel, uv", uv, WITH_PYTHON))
    print("| installed | first answer | s | later answers s | MB in the home |\n|---|---|--:|--:|--:|")
    for name, install, question in rows:
        home = Home()
        program = install(home, wheel)
        home.ask(program, question)
        first, home.seconds = home.seconds, 0.0
        home.ask(program, question)
        kind = "with Python" if question is WITH_PYTHON else "without Python"
        print(f"| {name} | {kind} | {first:.1f} | {home.seconds:.2f} | {home.megabytes():.0f} |", flush=True)
        shutil.rmtree(home.path)


if __name__ == "__main__":
    main()
