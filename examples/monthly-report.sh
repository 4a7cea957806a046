#!/bin/sh
# Writes report.html about a file: questions of the month, with tables and charts, in one page.
# From cron: 0 7 1 * * cd /srv/orders && ./monthly-report.sh orders.csv
# usage: monthly-report.sh [FILE]
set -eu
file=${1:-"$(dirname "$0")/orders.csv"}
session=$(mktemp -d)
trap 'rm -rf "$session"' EXIT
csv-agent ingest -q -S "$session" "$file" >/dev/null
csv-agent ask -q -S "$session" --model builtin "amount by region, as a bar chart" >/dev/null
csv-agent ask -q -S "$session" --model builtin "amount by month, as a chart" >/dev/null
csv-agent ask -q -S "$session" --model builtin "top 3 customers by amount" >/dev/null
csv-agent show -q -S "$session" all --html report.html
