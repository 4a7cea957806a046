#!/bin/sh
# Answers the questions of the month about a file, and writes one page with tables and charts: report.html.
# From cron: 0 7 1 * * cd /srv/orders && ./monthly-report.sh orders.csv
# usage: monthly-report.sh [FILE]
set -eu
file=${1:-"$(dirname "$0")/orders.csv"}
session=$(mktemp -d)
trap 'rm -rf "$session"' EXIT
csv-agent ingest -q -S "$session" "$file" >/dev/null
while read -r question; do
    csv-agent ask -q -S "$session" --model builtin "$question" </dev/null >/dev/null
done <<'QUESTIONS'
amount by region, as a bar chart
amount by month, as a chart
top 3 customers by amount
QUESTIONS
csv-agent show -q -S "$session" all --html report.html
