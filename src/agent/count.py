"""Counts which values of a column of the cluster are in no good range, in one job.

The rules are those that hold for files of this machine: the worst range counts, missing values are in
none, and what is no number at all is outside of the good range.
"""

import pyspark.sql.functions as F


def study(input):
    try:
        return {"found": counts_of(input)}
    except Exception as error:
        return {"error": {"kind": "", "text": str(error)}}


def counts_of(input):
    value = F.col("`" + input["column"].replace("`", "``") + "`").cast("double")
    level = F.when(within(value, input["bad"]), "bad").when(within(value, input["warning"]), "warning")
    if input["good"]:
        level = level.when(value.isNotNull() & ~within(value, input["good"]), "outside")
    levels = ("bad", "warning", "outside")
    counts = [F.count(F.when(level == it, True)).alias(it) for it in levels]
    frame = load(input["dataset"], [input["column"]])
    return frame.agg(F.count(F.lit(True)).alias("rows"), *counts).first().asDict()


def within(value, bounds):
    """Returns whether a value is within a range; a NaN, which Spark takes for the largest number, is not."""
    found = F.lit(bool(bounds)) & value.isNotNull() & ~F.isnan(value)
    for sign, bound in bounds:
        compared = {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound}
        found = found & compared[sign]
    return found
