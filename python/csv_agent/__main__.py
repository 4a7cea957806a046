"""Runs the program that pip installed with this module, also if its directory is not on the PATH."""

import os
import sys
from pathlib import Path

NAME = "csv-agent"


def find_program():
    # PREFIX/lib/python3.X/site-packages/csv_agent, or with `pip install --target` DIRECTORY/csv_agent.
    directory = Path(__file__).absolute().parent
    for root in (*directory.parents[3:4], directory.parent):
        program = root / "bin" / NAME
        if program.is_file():
            return str(program)
    sys.exit(f"error: {NAME} was not found near {directory}; install it again: `pip install --force-reinstall {NAME}`")


if __name__ == "__main__":
    if sys.executable:
        # csv-agent may not find this Python, for example after `pip install --user`.
        os.environ["CSV_AGENT_LAUNCHER"] = sys.executable
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])
