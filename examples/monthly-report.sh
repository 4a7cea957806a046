#!/bin/sh
# Answers the questions of monthly-report.md about a file, and writes one page with tables and charts: report.html.
# The session .csv-agent keeps the answers, so the next report says what has changed.
# From cron: 0 7 1 * * cd /srv/orders && ./monthly-report.sh orders.csv
# usage: monthly-report.sh [FILE]
set -eu
here=$(dirname "$0")
file=${1:-"$here/orders.csv"}
csv-agent report -q --from "$here/monthly-report.md" -f "$file" --model builtin -o report.html
