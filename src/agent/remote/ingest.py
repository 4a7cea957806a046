"""Looks at what is to be registered on a cluster: which files there are, how they begin, what columns a
table has. It runs in a worker that no model has a part in; `spark` is the session.

Nothing here changes anything on the cluster, and no more is collected than names, sizes and heads.
"""

import hashlib
import re
from base64 import b64encode
from urllib.parse import unquote

import pyspark.sql.functions as F

# Lines of a head that are read first, to see how long lines are.
LINES_FIRST = 200
# A directory that is named for a value with zeros before it. Those of `month=01` say nothing.
CODE = re.compile(r"/([^/=]+)=0\d{2,}(?=/)")
# Sizes from here on are what Spark says where it does not know.
UNKNOWN_BYTES = 1 << 62


def study(input):
    try:
        return {"found": ASKS[input["ask"]](input)}
    except Exception as error:
        return {"error": reason_of(error)}


def reason_of(error):
    """Returns what kind of error it is, and the sentence, without the stack of the server."""
    condition = getattr(error, "getCondition", lambda: None)() or ""
    at, codes = error, []
    while at is not None:
        code = getattr(at, "code", None)
        if callable(code):
            codes.append(getattr(code(), "name", ""))
        at = at.__cause__ or at.__context__
    text = str(error).split("\n\nJVM stacktrace")[0].split("\nJVM stacktrace")[0].strip()
    is_missing = condition.startswith(("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND",
                                       "PARSE_SYNTAX_ERROR", "UNABLE_TO_INFER_SCHEMA"))
    return {"kind": "missing" if is_missing else codes[-1] if codes else "", "text": text}


def look_at_files(input):
    """Returns the files that paths mean, and the heads of some."""
    columns = ["path", "length", "modificationTime"]
    frame = spark.read.format("binaryFile").load(input["paths"])
    seconds = F.unix_micros("modificationTime").alias("modified")
    listing = frame.select("path", "length", seconds).limit(input["files_max"] + 1).collect()
    files = sorted(tuple(it) for it in listing[:input["files_max"]])
    filled = [it for it in files if it[1]]
    partitions = [it for it in frame.dtypes if it[0] not in (*columns, "content")]
    codes = {unquote(name) for path, *_ in files for name in CODE.findall(path)}
    found = {
        "version": spark.version,
        "n_files": len(files),
        "has_more": input["files_max"] < len(listing),
        "bytes": sum(it[1] for it in files),
        "sha256": digest(files),
        "partitions": [(name, "string" if name in codes else kind) for name, kind in partitions],
        "is_delta": any(is_there(f"{it.rstrip('/')}/_delta_log") for it in input["paths"] if "*" not in it),
        "endings": sorted({ending_of(it[0], input["compressed"]) for it in filled})[:20],
    }
    if not filled or found["has_more"] or found["is_delta"]:
        return {**found, "heads": []}
    first = filled[0][0]
    if first.lower().endswith(tuple(input["parquet"])):
        return {**found, **parquet(input["paths"])}
    heads = [head_of(it, input["head_bytes"] if at == 0 else input["other_head_bytes"])
             for at, it in enumerate(spread(filled, input["heads_max"]))]
    if heads[0]["bytes"].startswith(b"PAR1"):
        return {**found, **parquet(input["paths"])}
    heads = [{**it, "bytes": b64encode(it["bytes"]).decode()} for it in heads]
    return {**found, "heads": heads, "n_filled": len(filled)}


def spread(files, n_max):
    """Returns the first file, the last, and some between them."""
    n = min(len(files), n_max)
    return [files[at * (len(files) - 1) // max(n - 1, 1)] for at in range(n)]


def head_of(file, bytes_max):
    """Returns the first bytes of a file, decompressed; no more than `bytes_max`."""
    path, length, _ = file
    reader = spark.read.format("text").option("lineSep", "\n")
    line = F.col("value").cast("binary")
    lines = reader.load(literal(path))
    # A line may be as long as its file: how many are wanted is known before any of them comes.
    lengths = lines.select(F.length(line))
    n_lines = LINES_FIRST
    rows = lengths.limit(n_lines).collect()
    n_bytes = sum(it[0] + 1 for it in rows)
    if len(rows) == n_lines and n_bytes < bytes_max:
        n_lines = min(bytes_max * n_lines // n_bytes + 1, bytes_max)
        rows = lengths.limit(n_lines).collect()
    n_wanted, n_bytes = 0, 0
    for (n,) in rows:
        if bytes_max < n_bytes:
            break
        n_wanted, n_bytes = n_wanted + 1, n_bytes + n + 1
    is_whole = len(rows) < n_lines and n_bytes <= bytes_max
    text = bytearray()
    for (value,) in lines.select(F.substring(line, 1, bytes_max + 1)).limit(n_wanted).collect():
        text += value + b"\n"
    return {"name": path, "length": length, "bytes": bytes(text[:bytes_max]), "is_whole": is_whole}


def parquet(paths):
    """Returns what Parquet files say of themselves."""
    frame = spark.read.option("mergeSchema", "true").parquet(*paths)
    return {"parquet": {"columns": frame.dtypes, "n_rows": frame.count()}}


def look_at_table(input):
    """Returns what the catalogue knows of a table or view."""
    name = input["table"]
    frame = spark.read.table(name)
    columns = frame.dtypes
    about = [tuple(it) for it in spark.sql(f"DESCRIBE EXTENDED {name}").collect()]
    details = {it[0]: it[1] for it in about if it[1]}
    n_bytes = number_behind(frame._explain_string(extended="cost"), "sizeInBytes=")
    known = details.get("Statistics", "")
    n_rows = int(known.split(" bytes, ")[1].split(" ")[0]) if " bytes, " in known else None
    n_bytes = n_bytes if n_bytes < UNKNOWN_BYTES else None
    is_estimate = n_rows is not None or (n_bytes or 0) > input["count_bytes_max"]
    if n_rows is None:
        n_rows = n_bytes // width_of(frame.schema) if is_estimate else frame.count()
    said = [details.get(it, "") for it in ("Type", "Provider", "Location", "Created Time", "View Text")]
    return {"version": spark.version, "columns": columns, "bytes": n_bytes or 0, "n_rows": n_rows,
            "is_estimate": is_estimate, "partitions": partitions_of(about), "type": said[0],
            "sha256": digest([name, columns, *said])}


def width_of(schema):
    """Returns about how many bytes a row has, as Spark's own planner takes it."""
    sizes = {"boolean": 1, "tinyint": 1, "smallint": 2, "int": 4, "float": 4, "date": 4, "string": 20}
    return 8 + sum(sizes.get(it.dataType.simpleString(), 8) for it in schema.fields)


def partitions_of(about):
    """Returns the columns that a description names as those of the partitions."""
    names, is_within = [], False
    for name, kind, _ in about:
        if name in ("# Partition Information", "# Partitioning"):
            is_within = True
        elif is_within and (not name or name.startswith("# ") and name != "# col_name"):
            break
        elif is_within and name != "# col_name" and not name.startswith("Part "):
            names.append(name)
    return names


def number_behind(text, mark):
    """Returns the first number of bytes behind a mark, as Spark writes them: `1200.0 B`, `8.0 EiB`."""
    if mark not in text:
        return UNKNOWN_BYTES
    value, unit = text.split(mark, 1)[1].split(")")[0].split(",")[0].split(" ")[:2]
    powers = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    return int(float(value) * 1024 ** powers.index(unit)) if unit in powers else UNKNOWN_BYTES


def ending_of(path, compressed):
    """Returns the last suffix of a name, with the one before it where that only says how it is stored."""
    name, dot, last = path.rsplit("/", 1)[-1].lower().rpartition(".")
    if not dot:
        return ""
    before = "." + name.rpartition(".")[2] if "." + last in compressed and "." in name else ""
    return f"{before}.{last}"


def literal(path):
    """Returns a path of which no sign means several files."""
    return "".join("\\" + it if it in "\\*?[]{}" else it for it in path)


def is_there(path):
    try:
        spark.read.format("binaryFile").load(path).schema
    except Exception:
        return False
    return True


def digest(parts):
    return hashlib.sha256(repr(parts).encode()).hexdigest()


ASKS = {"files": look_at_files, "table": look_at_table}
