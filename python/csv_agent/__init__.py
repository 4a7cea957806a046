"""csv-agent, a command-line program: `python -m csv_agent` runs it."""
