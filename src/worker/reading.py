"""How a dataset of a Spark cluster is read: as a lazy DataFrame with typed columns.

It needs pyspark and what csv-agent knows of the dataset, and no setting of the server: what is written
here means the same with ANSI mode off, in any time zone, and whatever `spark.sql.legacy` says.

A value that does not fit its type ends the job that needs it. It never becomes null in silence.
"""

import re

import pandas as pd
import pyarrow as pa
import pyspark.sql.functions as F

# The types of columns, as Spark has them. Spark has no time of day in all versions: it stays text.
TYPES = {"bool": "boolean", "int64": "bigint", "float64": "double", "date": "date",
         "timestamp": "timestamp_ntz", "timestamp_utc": "timestamp"}

# Days and times as programs write them: ISO 8601. Spark's own casts also take what is cut short, and
# drop what comes behind a day, or the offset of a time.
CLOCK = r"[0-2]\d:[0-5]\d(:[0-5]\d([.,]\d{1,6}0*)?)?"
DAY = r"\d{4}-\d{2}-\d{2}"
ISO = {"date": f"^{DAY}$", "timestamp": f"^{DAY}([ T]{CLOCK})?$",
       "timestamp_utc": f"^{DAY}[ T]{CLOCK}(Z|[+-]\\d\\d(:?\\d\\d)?)$"}

# The letters of a pattern, and what they stand for. A pattern may be looser than its letters: `d/M/yyyy`
# and `dd/MM/yyyy` are the same here.
LETTERS = {"yyyy": r"\d{4}", "yy": r"\d{2}", "d": r"\d{1,2}", "M": r"\d{1,2}", "MMM": r"[A-Za-z]{3,9}",
           "H": r"\d{1,2}", "h": r"\d{1,2}", "m": r"\d{2}", "s": r"\d{2}", "S": r"\d{1,6}",
           "a": r" ?[AaPp][Mm]"}
MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
# What blanks and apostrophes between thousands look like.
MARKS = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}


def read_remote(spark, name, dataset, columns=None, text=(), is_strict=True):
    """Returns a dataset, or some of its columns, as a lazy DataFrame.

    `text` names columns that are wanted as text, just as it was written. If not `is_strict`, a value that
    does not fit its type is null.
    """
    remote = dataset["remote"]
    rows = read_raw(spark, remote["source"])
    known = {it["name"]: (it, reading) for it, reading in zip(dataset["columns"], remote["readings"])}
    cells = []
    for column in list(known) if columns is None else columns:
        about, reading = known[column]
        cell = F.col(quoted(column))
        if reading["kind"] == "text":
            dtype = "string" if column in text else about["dtype"]
            cell = typed(cell, dtype, reading, unfit(name, column, dtype) if is_strict else None)
        elif column in text:
            cell = cell.cast("string")
        cells.append(cell.alias(column))
    return rows.select(*cells)


def read_raw(spark, source):
    """Returns what Spark itself reads: a table, or files."""
    if source["kind"] == "table":
        return spark.read.table(source["name"])
    reader = spark.read.format(source["format"]).options(**source["options"])
    if source["schema"]:
        reader = reader.schema(source["schema"])
    return reader.load(source["paths"])


def quoted(column):
    """Returns a column's name so that its dots, blanks and backticks mean nothing."""
    return "`" + column.replace("`", "``") + "`"


def unfit(name, column, dtype):
    """Returns a function that gives, for a cell of text, the error that it does not fit."""
    advice = f'" is not a valid {dtype}; load("{name}", text=["{column}"]) reads this column as text'
    return lambda cell: F.raise_error(F.concat(F.lit(f'`{column}`: "'), F.substr(cell, F.lit(1), F.lit(200)),
                                               F.lit(advice)))


def typed(cell, dtype, reading, error):
    """Returns a column of text as its type has it; null where the text means that nothing is there."""
    value, nulls = reading["value"], reading["nulls"]
    if dtype == "string" or dtype not in TYPES:
        return F.when(~cell.isin(nulls), cell) if nulls else cell
    made = {"number": number, "bool": truth, "moment": moment}[value["kind"]](F.trim(cell), dtype, value)
    # Most cells are values, so they are read first. Of what means nothing, only what could be read as a
    # value must be known before.
    first = [it for it in nulls if could_be_value(it, value)]
    rest = [it for it in nulls if it not in first]
    if error is not None:
        is_unfit = cell.isNotNull() & ~cell.isin(rest) if rest else cell.isNotNull()
        made = F.coalesce(made, F.when(is_unfit, error(cell)))
    return F.when(~cell.isin(first), made) if first else made


def could_be_value(text, value):
    """Returns whether text that means nothing looks like a value of a type."""
    word = text.strip().lower()
    if value["kind"] == "bool":
        return word in value["yes"] + value["no"]
    return bool(re.search(r"\d", word)) or word.lstrip("+-") in ("nan", "inf", "infinity")


def number(text, dtype, value):
    """Returns numbers, null where there is none."""
    decimal, thousands = value["decimal"], value.get("thousands")
    if decimal == "." and thousands is None:
        made = text.try_cast(TYPES[dtype])
        if dtype == "int64":
            return made
        # Java takes `1d`, `1f` and `0x1p3` as numbers. Of its numbers only infinity has one of these letters.
        # Each cell is asked for them: compared where it stands, that costs little.
        is_float = (text.contains("f") | text.contains("F")) & ~F.lower(text).contains("inf")
        is_other = text.contains("d") | text.contains("D") | text.contains("x") | text.contains("X")
        return F.when(~(is_float | is_other), made)
    marks = MARKS.get(thousands, thousands or "")
    whole = rf"\d{{1,3}}([{re.escape(marks)}]\d{{3}})*" if marks else r"\d+"
    fraction = "" if dtype == "int64" else rf"({re.escape(decimal)}\d+)?"
    plain = F.translate(text, decimal + marks, ".")
    return F.when(text.rlike(f"^[+-]?{whole}{fraction}$"), plain.try_cast(TYPES[dtype]))


def truth(text, _dtype, value):
    """Returns truth values, null where there is none."""
    word = F.lower(text)
    return F.when(word.isin(value["yes"]), True).when(word.isin(value["no"]), False)


def moment(text, dtype, value):
    """Returns days or times, null where there is none. The first pattern that fits is taken."""
    made = None
    for pattern in value["patterns"] or [""]:
        fits = text.rlike(expression(pattern) if pattern else ISO[dtype])
        if pattern:
            iso = as_iso(text, pattern)
        else:
            iso = text if dtype == "date" else F.translate(text, ",", ".")
        if dtype == "timestamp_utc":  # Spark wants seconds before an offset
            iso = F.regexp_replace(iso, "^(.{16})([Z+-])", "$1:00$2")
        iso = iso.try_cast(TYPES[dtype])
        made = F.when(fits, iso) if made is None else made.when(fits, iso)
    return made


def parts_of(pattern):
    """Yields the parts of a pattern in Spark's letters: what kind, and the text."""
    for part in re.finditer(r"([A-Za-z])\1*|'([^']*)'|(.)", pattern):
        run, quote, sign = part.group(0), part.group(2), part.group(3)
        if quote is not None:
            yield "literal", quote or "'"
        elif sign in ("[", "]"):
            yield "option", sign
        elif sign is not None:
            yield "literal", sign
        elif run[0] == "y":
            yield "letter", "yy" if len(run) == 2 else "yyyy"
        elif run[0] == "M":
            yield "letter", "MMM" if 3 <= len(run) else "M"
        elif run[0] in LETTERS:
            yield "letter", run[0]
        else:
            raise ValueError(f"`{run}` in the pattern `{pattern}` is not known")


def expression(pattern):
    """Returns the regular expression of a pattern, with a group for each of its letters."""
    made = {"letter": lambda it: f"({LETTERS[it]})", "literal": re.escape,
            "option": lambda it: "(?:" if it == "[" else ")?"}
    return "^" + "".join(made[kind](it) for kind, it in parts_of(pattern)) + "$"


def as_iso(text, pattern):
    """Returns what fits a pattern as ISO 8601."""
    letters = [it for kind, it in parts_of(pattern) if kind == "letter"]
    found = {it: F.regexp_extract(text, expression(pattern), at + 1) for at, it in enumerate(letters)}
    if "yyyy" in found:
        year = found["yyyy"]
    else:  # as POSIX has it
        year = F.concat(F.when(found["yy"] < "69", F.lit("20")).otherwise(F.lit("19")), found["yy"])
    month = found.get("M")
    if month is None:
        name = F.lower(F.substr(found["MMM"], F.lit(1), F.lit(3)))
        at = F.position(name, F.lit(MONTHS))
        month = F.when(at % 3 == 1, ((at + 2) / 3).cast("int").cast("string"))
    day = F.concat(year, F.lit("-"), month, F.lit("-"), found["d"])
    hour = found.get("H", found.get("h"))
    if hour is None:
        return day
    if "a" in found:
        clock = hour.try_cast("int")
        is_after_noon = F.lower(found["a"]).contains("p")
        clock = F.when(clock.between(1, 12), clock % 12 + F.when(is_after_noon, 12).otherwise(0))
        hour = clock.cast("string")
    seconds = F.when(found["s"] != "", F.concat(F.lit(":"), found["s"])) if "s" in found else None
    rest = F.lit("") if seconds is None else F.coalesce(seconds, F.lit(""))
    if "S" in found:
        rest = F.concat(rest, F.when(found["S"] != "", F.concat(F.lit("."), found["S"])).otherwise(""))
    time = F.concat(F.lit(" "), hour, F.lit(":"), found["m"], rest)
    # A part of the pattern that is optional may not be there.
    return F.concat(day, F.when(hour == "", F.lit("")).otherwise(time))


def to_pandas(frame):
    """Collects a DataFrame with the types that a local dataset has in pandas.

    Spark's own way makes floats of whole numbers, and objects of truth values, where one is missing.
    """
    table = frame.toArrow()
    names = table.column_names
    table = table.rename_columns([str(at) for at in range(len(names))])  # there may be two of a name
    utc = [pa.timestamp("us", "UTC") if pa.types.is_timestamp(it) and it.tz else it
           for it in table.schema.types]
    table = table.cast(pa.schema(zip(table.column_names, utc)))
    nullable = {pa.int64(): pd.Int64Dtype(), pa.int32(): pd.Int32Dtype(), pa.int16(): pd.Int16Dtype(),
                pa.int8(): pd.Int8Dtype(), pa.bool_(): pd.BooleanDtype()}
    exact = [it.name for it in table.schema if it.type in nullable and table[it.name].null_count]
    exact = table.select(exact).to_pandas(types_mapper=nullable.get)
    made = table.to_pandas(split_blocks=True, self_destruct=True)
    for name in exact:
        made[name] = exact[name]
    return made.set_axis(names, axis=1)
