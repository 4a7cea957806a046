#!/bin/sh
# Checks a file and writes a JUnit report for each rule: orders-1.xml, orders-2.xml and so on.
# Ends with 0 when all rules hold, 1 when one does not, 2 when a check could not be completed.
# usage: check-orders.sh [FILE]
set -u
file=${1:-"$(dirname "$0")/orders.csv"}
result=0
n=0
while read -r rule; do
    n=$((n + 1))
    csv-agent ask -q --ephemeral -f "$file" --model builtin --fail-on bad --report "junit=orders-$n.xml" \
        --format reply "$rule" </dev/null
    case $? in
    0) ;;
    11) [ $result = 2 ] || result=1 ;;
    *) result=2 ;;
    esac
done <<'RULES'
order_id is unique
no amount below 0
no customer is missing
RULES
exit $result
