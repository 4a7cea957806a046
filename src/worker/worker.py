"""The worker: runs the model's code and answers one line for each command.

Trust. Once the first command has come, all of this runs beside code that may be hostile. What is written here keeps
honest code and accidents from breaking the protocol; it is no wall. The wall is the confinement of
the process, and the other end, which takes every answer as data: measured, checked, never obeyed.

How it starts. csv-agent sends one line, `start`, that holds this text and the settings. A bootstrap
of a few statements runs the text with a private copy of the builtins, so that functions here do not
see what the code does to `builtins`. For the same reason names are imported one by one: replacing
`os.write` or `json.dumps` changes a module, not the reference held here.

Processes. What stands between csv-agent and this process has taken its rights away and set its limits,
passes interrupts on, and kills it and all it started when csv-agent goes away.

Descriptors. Requests, responses and output arrive as 0, 1 and 2 and are moved up at once. Then 0 is
/dev/null, and 1 and 2 are the output pipe, which csv-agent drains during a call, keeping a part. Where
datasets are on a cluster, 3 is the stream to csv-agent's relay, of which `spark.py` knows more.
"""

import ast
import io
import linecache
import re
import sys
from base64 import b64encode
from builtins import __dict__ as BUILTINS
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from errno import EACCES, EAGAIN, EFBIG, ENOENT, EPERM, EROFS, EXDEV
from hashlib import sha256
from importlib import import_module
from json import JSONDecoder
from json.encoder import c_make_encoder, encode_basestring
from keyword import iskeyword
from math import isfinite
from os import (O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY, _exit, chdir, close, closerange,
                dup2, fdopen, getpid, lstat, mkdir, open as open_fd, read, symlink, umask, unlink,
                write)
from pickle import Pickler, Unpickler
from resource import RLIMIT_NPROC, getrlimit, setrlimit
from shutil import copyfile, rmtree
from signal import ITIMER_REAL, SIG_SETMASK, SIGINT
from traceback import FrameSummary, StackSummary, TracebackException, walk_tb
from types import FunctionType, ModuleType
from warnings import catch_warnings, simplefilter
from zlib import crc32

from _thread import start_new_thread
# The functions of `signal` itself are Python around these, and stop working without `isinstance`.
from _signal import pthread_sigmask, setitimer, signal as set_handler

REQUESTS, RESPONSES, OUTPUT, NULL, RELAY = 200, 201, 202, 203, 204
CLUSTER = start["cluster"]  # what is known of datasets on a cluster; none if there are none

# --- The process, before anything large is in it --------------------------------------------------


def take_descriptors():
    """Moves the protocol away from the numbers that code and its children write to.

    What csv-agent itself inherited from its caller is closed: it is no business of the code.
    """
    for number, place in ((0, REQUESTS), (1, RESPONSES), (2, OUTPUT)):
        dup2(number, place, inheritable=False)
    if CLUSTER is not None:
        dup2(3, RELAY, inheritable=False)
    null = open_fd("/dev/null", O_RDONLY)
    dup2(null, NULL, inheritable=False)
    close(null)
    dup2(NULL, 0)
    dup2(OUTPUT, 1)
    dup2(OUTPUT, 2)
    closerange(3, REQUESTS)
    closerange(NULL + 1 if CLUSTER is None else RELAY + 1, 65_536)


umask(0o077)
take_descriptors()
# `-c` puts the current directory first: a file there must not stand in for a module.
sys.path[:] = [path for path in sys.path if path not in ("", ".", start["scratch"])]
chdir(start["scratch"])

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pyarrow as pa  # noqa: E402
from pandas import NA, DataFrame, NaT, RangeIndex, Series, Timedelta, Timestamp  # noqa: E402
from pandas.api.types import infer_dtype, is_integer_dtype  # noqa: E402
from pyarrow.parquet import ParquetFile, read_table, write_table  # noqa: E402

PID = getpid()
LINES = linecache.cache
SCRATCH = start["scratch"]
IS_CONTAINER = start["container"] is not None  # whether this stands in for one of a provider's
INT_MAX = 2**53 - 1
NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
HEAD_ROWS_MAX = 20
CELLS_MAX = 300
NAMES_MAX = 10_000
BALLAST_BYTES = 16 * 1024 * 1024
MESSAGE_CHARS_MAX = 4_000
PICKLE_BYTES_MAX = 32 * 1024 * 1024
FRAME_JSON_BYTES_MAX = start["line_bytes"] // 2
STORED_MAX = 100
PRINTED_CHARS_MAX = 4 * 1024 * 1024
PLAIN = (str, bytes, list, tuple, dict, set, frozenset, np.ndarray)

encode_parts = c_make_encoder(None, str, encode_basestring, None, ":", ",", False, False, False)
decode_at = JSONDecoder().scan_once
# What Spark says of an error, without what comes behind it: a plan of many pages, and stacks of Java.
without_plan = re.compile(r"(SQLSTATE: \w{5});?\n.*", re.DOTALL).sub
without_stack = re.compile(r"(\n+\s*(at )?[\w.$/<>]+\((\w+\.(java|scala)(:\d+)?|Native Method)\))+").sub
words_of = re.compile(r"[^\W\d]\w*").findall
quoted = re.compile(r"'([^']+)'").findall
without_addresses = re.compile(r" at 0x[0-9a-fA-F]+").sub
is_key = re.compile(r"[a-z_]+_[0-9a-f]{8}").fullmatch
is_plain_name = re.compile(r"[\w.-]+").fullmatch
in_container = re.compile(r"/mnt/data(?![\w.-])").sub


class Interrupted(KeyboardInterrupt):
    """Raised in the code at its deadline. No `Exception`, so `except Exception` lets it through."""


class Refused(Exception):
    """A command that cannot be done, with the sentence that says why."""


class State:
    """What the worker knows besides the variables."""

    running = False  # whether an interrupt may raise
    calls = 0
    tables = 0
    cell = ""  # the name of the code that runs
    cells = []  # the names of the last cells, oldest first
    notes = []  # sentences for the model, sent with the next outcome
    store = None  # the variable `data`, if it is ours
    samples = {}  # variable that holds no more than first rows of a dataset, or comes of it → of which
    printed = []  # what the call has printed through `sys.stdout`, as far as it is kept
    printed_chars = 0
    used = {}  # variable → the last call that mentioned it
    sources = {}  # name → (file, source) of a function or class that a cell defined
    pending = {}  # variables of an earlier process, not needed yet → entry of the manifest
    told = set()  # frames of a cluster that cannot be had, which was said once
    ballast = bytearray(BALLAST_BYTES)  # given up when memory runs out, so the error can be told


state = State()
namespace = {}
cluster = None  # the functions of `spark.py`, where datasets are on a cluster

# --- Text and JSON --------------------------------------------------------------------------------


def encode(value):
    """Returns JSON as bytes. Half surrogates, which UTF-8 cannot hold, become question marks."""
    return "".join(encode_parts(value, 0)).encode("utf-8", "replace")


def same_every_time(text):
    """Returns text without memory addresses: a replay must see what the recording saw."""
    return without_addresses("", text)


def cut_end(text, n_chars):
    return text if len(text) <= n_chars else text[: max(n_chars - 1, 0)] + "…"


def cut_middle(text, n_bytes, place=None):
    """Returns text whose JSON has at most `n_bytes`; what is missing is counted in its place.

    `place` is where code finds the whole of it.
    """
    whole = f"; the whole is {place}" if place else ""
    n_chars = min(len(text), n_bytes)
    while True:
        shown = text
        if n_chars < len(text):
            head = n_chars * 2 // 3
            tail = len(text) - (n_chars - head)
            shown = f"{text[:head]}\n… {tail - head} characters cut{whole} …\n{text[tail:]}"
        if len(encode(shown)) <= n_bytes or n_chars == 0:
            return shown
        n_chars = n_chars * 4 // 5


def cell(value, n_chars):
    """Returns one value as JSON; `frame.rs` has the rules."""
    kind = type(value)
    if kind is str:
        return cut_end(value, n_chars)
    if value is None or value is NA or value is NaT:
        return None
    if kind is bool:
        return value
    if kind is int:
        return value if -INT_MAX <= value <= INT_MAX else str(value)
    if kind is float:
        return value if isfinite(value) else None
    if isinstance(value, (np.datetime64, Timestamp, datetime)):
        instant = Timestamp(value) if kind is np.datetime64 else value
        return None if instant is NaT else instant.isoformat()
    if isinstance(value, (np.timedelta64, timedelta)):
        return None if Timedelta(value) is NaT else Timedelta(value).isoformat()
    if isinstance(value, (np.bool_, np.integer)):
        return cell(value.item(), n_chars)
    if isinstance(value, np.floating):
        return cell(float(str(value)), n_chars)  # 0.1 stays 0.1 when it is a float32
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return cut_end(b64encode(value).decode(), n_chars)
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    if isinstance(value, (list, tuple, dict, np.ndarray)):
        return cut_end(encode(nested(value, 4)).decode(), n_chars)
    return cut_end(same_every_time(str(value)), n_chars)


def nested(value, depth):
    """Returns a list or mapping within a cell as JSON; below the depth it is text."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if depth and isinstance(value, (list, tuple)):
        return [nested(it, depth - 1) for it in value]
    if depth and isinstance(value, dict):
        return {str(key): nested(it, depth - 1) for key, it in value.items()}
    return cell(value, 1024) if not isinstance(value, (list, tuple, dict)) else "…"


def cells(series, n_chars):
    """Returns a column as JSON values; the usual types without a look at each value's type."""
    kind = series.dtype.kind if isinstance(series.dtype, np.dtype) else ""
    if kind == "b":
        return series.tolist()
    if kind in ("i", "u"):
        return [it if -INT_MAX <= it <= INT_MAX else str(it) for it in series.tolist()]
    if series.dtype == np.float64:
        return [it if isfinite(it) else None for it in series.tolist()]
    if kind == "f":
        return [cell(it, n_chars) for it in series.to_numpy()]
    # A float may be a missing string here, or one of a column of mixed objects: `cell` knows both.
    return [cell(it, n_chars) for it in series.tolist()]


# --- Frames ---------------------------------------------------------------------------------------


def is_frame(value):
    # `type`, because `isinstance` asks the value's own `__class__`.
    return issubclass(type(value), (DataFrame, Series))


def is_lazy(value):
    """Returns whether a value is a frame of the cluster, of which nothing is here."""
    return cluster is not None and cluster.is_frame(value)


def column_text(name):
    """Returns a column's name as text; the levels of a MultiIndex are joined."""
    if isinstance(name, tuple):
        return "_".join(part for part in map(column_text, name) if part)
    return cut_end(name if type(name) is str else str(cell(name, 1024)), 1024)


def unique(names):
    """Returns the names, the second `a` as `a_2`."""
    taken, result = set(names), []
    seen = set()
    for name in names:
        candidate, n = name, 2
        while candidate in seen or (candidate != name and candidate in taken):
            candidate, n = f"{name}_{n}", n + 1
        seen.add(candidate)
        result.append(candidate)
    return result


def as_frame(value):
    """Returns a Series as a frame of one column; a frame as it is."""
    if not issubclass(type(value), Series):
        return value
    return value.to_frame("value" if value.name is None else value.name)


def flat(frame, row_labels):
    """Returns a frame with plain, unique column names, whose index has become columns.

    A nameless range says nothing and goes. Nameless whole numbers are what sorting and filtering
    leave of such a range; they are kept only when `row_labels` asks for them.
    """
    frame = frame.set_axis(unique([column_text(it) for it in frame.columns]), axis=1)
    index = frame.index
    single = index.nlevels == 1
    if single and index.name is None:
        if type(index) is RangeIndex or is_integer_dtype(index.dtype) and not row_labels:
            return frame.reset_index(drop=True)
    names = [column_text(it) if it is not None else "index" if single else f"level_{at}"
             for at, it in enumerate(index.names)]
    frame = frame.reset_index(names=names, allow_duplicates=True)
    return frame.set_axis(unique(list(frame.columns)), axis=1)


# Rows, columns and characters of a cell: the first combination that fits is shown.
HEADS = ((20, 200, 1024), (20, 200, 200), (20, 100, 80), (10, 60, 60), (5, 40, 40), (2, 30, 30),
         (1, 12, 30), (0, 8, 30))


def show_frame(value, rows_max=HEAD_ROWS_MAX):
    """Returns a frame as the model sees it: shape, types and the first rows."""
    is_series = issubclass(type(value), Series)
    frame = as_frame(value)
    n_rows, n_columns = frame.shape
    for rows, columns, n_chars in HEADS:
        part = flat(frame.iloc[: min(rows, rows_max), :columns], row_labels=True)
        names = list(part.columns)
        by_column = [cells(part[name], n_chars) for name in names]
        result = {
            "kind": "series" if is_series else "dataframe",
            "head": [dict(zip(names, row)) for row in zip(*by_column)],
            "columns": names,
            "row_count": n_rows,
            "dtypes": {name: str(part[name].dtype) for name in names},
        }
        if len(encode(result)) <= start["result_bytes"]:
            break
    return of_columns(result, columns, n_columns)


def of_columns(result, columns, n_columns):
    """Returns what shows a frame, having said so where it has fewer columns than there are."""
    if columns < n_columns:
        result["column_count"] = n_columns
        state.notes.append(f"{columns} of {n_columns} columns are shown")
    return result


def show_lazy(value):
    """Returns a frame of the cluster as the model sees it. No job is run for it."""
    names, dtypes = cluster.describe(value)
    n_columns = len(names)
    for columns, n_chars in ((1_000, 200), (200, 200), (100, 60), (40, 40), (8, 30)):
        shown = [cut_end(it, n_chars) for it in names[:columns]]
        result = {
            "kind": "spark_dataframe",
            "columns": shown,
            "dtypes": dict(zip(shown, [cut_end(it, n_chars) for it in dtypes])),
            "text": "lazy: nothing was read; aggregate on the cluster, then toPandas()",
        }
        if len(encode(result)) <= start["result_bytes"]:
            break
    return of_columns(result, columns, n_columns)


def show(value):
    """Returns the last expression of the code as a notebook would show it."""
    if value is None:
        return {"kind": "none"}
    if is_frame(value):
        return show_frame(value)
    if is_lazy(value):
        return show_lazy(value)
    text = same_every_time(repr(value))
    content = encode(text)
    if len(content) <= start["text_bytes"]:
        return {"kind": "text", "text": text}
    kept = value if type(value) in PLAIN else cut_end(text, PRINTED_CHARS_MAX)
    key, place = put_aside("python_repl", kept, content)
    return {"kind": "text", "text": cut_middle(text, start["text_bytes"], place), "data_key": key}


# --- What is too long to be shown -----------------------------------------------------------------


def put_aside(tool, value, content):
    """Puts a value into the variable `data`. Returns its key, and how code reaches it.

    The key is made of the content: one that the model has read before never stands for another value.
    """
    # A variable that the code has called `data` is left alone.
    for name in ("data", "stored_data"):
        if name in state.pending:
            restore({name})
        if is_store(namespace.setdefault(name, {})):
            break
    else:
        namespace[name] = {}
    state.store = store = namespace[name]
    key = f"{tool}_{sha256(content).hexdigest()[:8]}"
    store[key] = value
    while STORED_MAX < len(store):
        oldest = next(iter(store))
        del store[oldest]
        state.notes.append(f'{name}["{oldest}"] was dropped: {STORED_MAX} outputs are kept')
    return key, f'{name}["{key}"]'


def is_store(value):
    """Returns whether a value may be ours: a mapping with keys like ours."""
    return value is state.store or type(value) is dict and all(
        type(it) is str and is_key(it) for it in value)


def put_printed_aside(result):
    """Puts what the call has printed aside, if not all of it will be shown."""
    text = same_every_time("".join(state.printed))
    state.printed, state.printed_chars = [], 0
    room = min(start["text_bytes"], start["output_bytes"] - len(encode(result)) - 64)
    # Escapes make it longer, never shorter.
    if len(text) * 4 <= room or len(encode(text)) <= room:
        return
    result["stdout_key"], result["stdout_place"] = put_aside("python_repl", text, encode(text))


def keep_aside(request):
    """Puts aside what another tool found: a table, or a text."""
    rows = request["rows"]
    value = request["text"] if rows is None else DataFrame(rows)
    key, place = put_aside(request["tool"], value, encode([rows, request["text"]]))
    return {"result": {"kind": "kept", "data_key": key, "place": place}}


def frames():
    """Returns the names of the frames, those not restored yet among them."""
    here = [name for name, it in namespace.items() if is_frame(it) and not name.startswith("__")]
    return here + [name for name, it in state.pending.items() if it["kind"] in ("frame", "series")]


def frame_bytes(value):
    """Returns about how much memory a frame takes; small ones count as nothing."""
    if value.size < 100_000:
        return 0
    usage = value.memory_usage(index=True, deep=False)
    n_bytes = int(usage if issubclass(type(value), Series) else usage.sum())
    frame = as_frame(value)
    for at, dtype in enumerate(frame.dtypes):
        if dtype == object:  # 8 bytes were counted, the pointer
            column = frame.iloc[:, at]
            sample = column.iloc[:: max(1, len(column) // 200)]
            n_bytes += len(column) * sum(map(sys.getsizeof, sample)) // max(1, len(sample))
    return n_bytes


def prune():
    """Drops the frames that were not mentioned for longest, once all are too large together.

    What the call itself mentions is protected: it was just made, or is what the model works on.
    """
    sizes = {}  # by identity: two names of one frame count once
    names = {}
    for name in frames():
        if name in namespace:
            value = namespace[name]
            sizes[id(value)] = sizes.get(id(value)) or frame_bytes(value)
            names.setdefault(id(value), []).append(name)
    total = sum(sizes.values())
    if total <= start["frames_bytes"]:
        return
    last_use = {key: max(state.used.get(name, 0) for name in names[key]) for key in names}
    for key in sorted(names, key=last_use.get):
        if total <= start["frames_bytes"] or last_use[key] == state.calls:
            break
        if sizes[key] == 0:
            continue
        total -= sizes[key]
        for name in names[key]:
            del namespace[name]
        listed = ", ".join(f"`{name}`" for name in names[key])
        state.notes.append(f"{listed} ({sizes[key] >> 20} MB) was dropped: the frames were over "
                           f"{start['frames_bytes'] >> 20} MB together; load it again if needed")


# --- Datasets -------------------------------------------------------------------------------------


def link_datasets():
    """Returns name → relative path, so that what the code prints is the same on every machine."""
    fresh_directory("datasets")
    links = {}
    for number, (name, path) in enumerate(start["datasets"].items()):
        file = name if is_plain_name(name) else f"dataset-{number}"
        links[name] = f"datasets/{file}.parquet"
        symlink(path, links[name])
    return links


def fresh_directory(path):
    """Makes an empty directory in place of whatever an earlier process left under that name."""
    try:
        unlink(path)
    except OSError:
        rmtree(path, ignore_errors=True)
    mkdir(path)


def read_dataset(name, columns, n_rows, text=()):
    """Returns a dataset, or a part of it, as `pandas.read_parquet` would; one of the cluster is lazy."""
    remote = CLUSTER["datasets"] if CLUSTER is not None else {}
    if name in remote:
        return read_remote(name, columns, n_rows, text)
    path = start["datasets"].get(name)
    if path is None:
        known = sorted([*start["datasets"], *remote])
        listed = ", ".join(f"`{it}`" for it in known) or "none"
        raise Refused(f"no dataset `{name}`{nearest(name, known)}; the session has: {listed}")
    if text:
        raise Refused(f"`text` is for datasets on a cluster; every value of `{name}` fits its type")
    try:
        file = ParquetFile(path)
        check_columns(name, file.schema_arrow.names, columns)
        if n_rows is None:
            table = file.read(columns=columns, use_threads=False, use_pandas_metadata=True)
        else:
            table = first_rows(file, columns, n_rows)
    except (OSError, pa.ArrowException) as error:
        raise Refused(f"dataset `{name}` cannot be read: {type(error).__name__}; its file may be damaged: "
                      "`csv-agent doctor --session` tells") from None
    if columns is not None:  # the file's order, and an index column of pandas, if it has one
        table = table.select(columns + [it for it in table.column_names if it not in columns])
    # pandas would make floats of whole numbers and objects of truth values where one is missing.
    exact = [it.name for it in table.schema if it.type in NULLABLE and table[it.name].null_count]
    exact = table.select(exact).to_pandas(types_mapper=NULLABLE.get)
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    for name in exact:
        frame[name] = exact[name]
    return frame


def check_columns(name, known, columns):
    missing = [it for it in dict.fromkeys(columns or ()) if it not in known]
    if missing:
        raise Refused(cut_end(f"`{name}` has {no_columns(missing, known)}", MESSAGE_CHARS_MAX))
    if columns is not None and not columns:
        raise Refused("`columns` is empty; name at least one column")


def no_columns(missing, known):
    """Says which names are none of the columns, each with the nearest that is, and what there is."""
    shown = ", ".join(f"`{it}`{nearest(it, known)}" for it in missing[:20])
    kind = "column" if len(missing) == 1 else "columns"
    return f"no {kind} {shown}; the columns are: {', '.join(f'`{it}`' for it in known)}"


def nearest(name, known):
    """Returns the column that was probably meant, as a remark."""
    match = import_module("difflib").get_close_matches
    by_small = {it.casefold(): it for it in reversed(known)}
    found = match(str(name).strip().casefold(), by_small, 1, 0.6)
    return f" (did you mean `{by_small[found[0]]}`?)" if found else ""


def read_remote(name, columns, n_rows, text):
    """Returns a dataset of the cluster as a lazy frame, or its first rows as one of pandas."""
    known = [it["name"] for it in CLUSTER["datasets"][name]["columns"]]
    check_columns(name, known, columns)
    check_columns(name, known, text or None)
    frame = cluster.load(name, columns, text)
    if n_rows is None:
        return frame
    if CLUSTER["sample_rows"] < n_rows:
        raise Refused(f"`n_rows` is {n_rows}; of a dataset on a cluster at most "
                      f"{CLUSTER['sample_rows']} rows can be read here; aggregate there instead")
    return frame.limit(n_rows).toPandas()


def only_rows(of_what):
    return f"{of_what}: load the dataset before computing an answer"


def rows_of(name):
    """Returns how many rows a dataset has; of one on a cluster it is not known here."""
    path = start["datasets"].get(name)
    return "the" if path is None else ParquetFile(path).metadata.num_rows


def first_rows(file, columns, n_rows):
    """Reads no more row groups than the rows need."""
    batches, n_read = [], 0
    size = max(1, min(n_rows, 65_536))
    options = {"columns": columns, "use_threads": False, "use_pandas_metadata": True}
    for batch in file.iter_batches(size, **options):
        if n_rows <= n_read:
            break
        batches.append(batch)
        n_read += batch.num_rows
    if not batches:
        return file.read(**options)
    return pa.Table.from_batches(batches).slice(0, n_rows)


def load(name, columns=None, n_rows=None, text=()):
    """Return a dataset as a DataFrame: load("sales"), load("sales", columns=["day", "price"]).

    A dataset on a cluster comes as a lazy Spark DataFrame; `n_rows` gives its first rows in pandas, `text`
    names columns that are wanted as text, for values that do not fit their type.
    """
    return read_dataset(name, None if columns is None else names_in(columns), n_rows, names_in(text))


def names_in(columns):
    """Returns a list of names, also of one that stands alone."""
    return [columns] if type(columns) is str else list(columns)


# --- Commands -------------------------------------------------------------------------------------


def run(request):
    """Runs code and shows its last expression, unless it ends with a semicolon."""
    code = request["code"]
    mention(code)
    state.cell = f"<cell {crc32(code.encode('utf-8', 'replace')):08x}>"
    show_lines_of(state.cell, code)
    tree = ast.parse(code, state.cell)
    remember_sources(tree, code)
    if IS_CONTAINER:
        tree = Here().visit(tree)
    sample = follow_samples(tree)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, state.cell, "exec"), namespace)
    result = {"kind": "none"}
    if last is not None:
        value = eval(compile(ast.Expression(last.value), state.cell, "eval"), namespace)
        if IS_CONTAINER:
            if value is not None and not code.rstrip().endswith(";"):
                display(value)
        elif not code.rstrip().endswith(";"):
            result = show(value)
    if sample is not None:
        result["sample"] = sample
    return {"result": result}


def follow_samples(tree):
    """Follows which variables come of the first rows of a dataset and of no more.

    Returns of which rows all comes that the code shows, if of such.
    """
    shown = set()
    for statement in tree.body:
        used, made, sample = set(), {getattr(statement, "name", None)}, None
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
            elif isinstance(node, ast.Call) and any(it.arg == "n_rows" for it in node.keywords):
                sample = only_rows("the first rows of a dataset")
        if isinstance(statement, ast.AugAssign):
            used |= made
        sample = next((state.samples[it] for it in sorted(used - {None}) if it in state.samples), sample)
        if isinstance(statement, ast.Expr):
            shown.add(sample)
        elif sample is not None:
            state.samples.update(dict.fromkeys(made - {None}, sample))
        else:
            for name in made:
                state.samples.pop(name, None)
    return shown.pop() if len(shown) == 1 else None


# --- In place of a provider's container -----------------------------------------------------------
#
# Code that ran in a container of a provider's found its files in a directory of a fixed name. The same
# code runs here with its own directory in that place, and finds there what was uploaded.


class Here(ast.NodeTransformer):
    """Puts the directory of the code in the place of the container's, in what the code says as text."""

    def visit_Constant(self, node):
        if type(node.value) is str:
            node.value = in_container(SCRATCH.replace("\\", "\\\\"), node.value)
        return node


def display(*values):
    """Shows values as the container does: as text among what is printed."""
    for value in values:
        output[0].write(f"{value!r}\n")


def fill_container():
    """Puts what was uploaded where the code may change it."""
    for file, path in (start["container"] or {}).items():
        try:
            copyfile(path, f"{SCRATCH}/{file}")
        except OSError:  # larger than a file of the code may be
            unlink(f"{SCRATCH}/{file}")
            symlink(path, f"{SCRATCH}/{file}")


def show_lines_of(file, code):
    """Lets tracebacks quote the code. The last hundreds of cells are enough to remember."""
    state.cells.append(file)
    if CELLS_MAX < len(state.cells):
        LINES.pop(state.cells.pop(0), None)
    linecache.cache = LINES
    LINES[file] = (len(code), None, code.splitlines(keepends=True), file)


def load_into(request):
    """Reads a dataset into a variable."""
    variable = request["variable"]
    if not variable.isidentifier() or iskeyword(variable) or variable.startswith("__"):
        raise Refused(f"`{variable}` cannot be a variable; use letters, digits and underscores, "
                      "such as `df`")
    if variable in PRELOADED:
        raise Refused(f"`{variable}` has a meaning here; choose another name, such as `df`")
    frame = read_dataset(request["dataset"], request["columns"], request["n_rows"])
    namespace[variable] = frame
    state.pending.pop(variable, None)
    state.samples.pop(variable, None)
    if request["n_rows"] is not None and (n_rows := rows_of(request["dataset"])) != len(frame):
        state.samples[variable] = only_rows(f"{len(frame)} of {n_rows} rows of `{request['dataset']}`")
    state.used[variable] = state.calls
    shown = show_lazy(frame) if is_lazy(frame) else show_frame(frame, rows_max=5)
    return {"result": {**shown, "variable": variable}}


def find(request):
    """Counts in which columns of a dataset of the cluster a value is."""
    name = request["dataset"]
    if CLUSTER is None or name not in CLUSTER["datasets"]:
        raise Refused(f"no dataset `{name}` on a cluster")
    return {"result": {"kind": "matches", "columns": cluster.find(name, request["value"])}}


def fetch(request):
    """Sends the beginning of a frame, and writes the whole of it when asked."""
    name, columns = request["variable"], request["columns"]
    mention(name)
    if name not in namespace or name.startswith("__"):
        raise Refused(f"no variable `{name}`; {frames_known()}")
    value = namespace[name]
    n_rows = None
    if is_lazy(value):
        value, n_rows = collect(name, value, request)
    if not is_frame(value):
        raise Refused(f"`{name}` is no DataFrame but a {type(value).__name__}; {frames_known()}")
    n_rows = len(value) if n_rows is None else n_rows
    part = value if request["write"] else value.iloc[: request["rows_max"]]
    whole = flat(as_frame(part), row_labels="index" in (columns or ()))
    result = {"kind": "none"}
    if columns is not None:
        known = list(whole.columns)
        if missing := [it for it in dict.fromkeys(columns) if it not in known]:
            result["lacks"] = cut_end(no_columns(missing, known), MESSAGE_CHARS_MAX)
        whole = whole[[it for it in unique(columns) if it in known]]
    allowed = min(request["rows_max"], request["cells_max"] // max(1, whole.shape[1]))
    head = whole.iloc[:allowed]
    rows = [list(row) for row in zip(*[cells(head[it], 32_768) for it in head.columns])]
    names = list(head.columns)
    frame = {"columns": names, "dtypes": [str(it) for it in head.dtypes],
             "rows": within(rows, len(encode(names)), FRAME_JSON_BYTES_MAX), "row_count": n_rows}
    file = write_whole(whole) if request["write"] else None
    return {"result": result, "frame": frame, "file": file}


def collect(name, value, request):
    """Returns the beginning of a frame of the cluster, and how many rows it has in all."""
    wanted = request["columns"]
    here = value.columns
    if wanted is not None and len(set(here)) == len(here) and set(wanted) & set(here):
        value = value.select(*[cluster.column(it) for it in here if it in wanted])
    n_rows_max = CLUSTER["table_rows"]
    if not request["write"]:
        n_rows_max = min(n_rows_max, request["rows_max"])
    frame, n_rows = cluster.head(value, n_rows_max)
    if len(frame) < n_rows:
        state.notes.append(f"`{name}` is on the cluster: the first {len(frame)} of its {n_rows} rows "
                           "were collected, the rest is left out")
    return frame, n_rows


def frames_known():
    lazy = [name for name, it in namespace.items() if is_lazy(it)]
    lazy += [name for name, it in state.pending.items() if it["kind"] == "spark"]
    known = ", ".join(f"`{name}`" for name in (frames() + lazy)[:50])
    return f"the DataFrames are: {known}" if known else "there is no DataFrame yet"


def within(rows, names_bytes, n_bytes):
    """Returns the first rows, as many as fit into that much JSON, where each has the names of its cells."""
    for at, row in enumerate(rows):
        n_bytes -= len(encode(row)) + names_bytes
        if n_bytes < 0:
            return rows[:at]
    return rows


def write_whole(frame):
    """Writes a frame to a new file in scratch and returns the file's name."""
    state.tables += 1
    file = f"table-{state.tables}.parquet"
    path = f"{SCRATCH}/{file}"
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError):
        # Columns of mixed objects have no Parquet type; as text they are at least complete.
        texts = {it: [as_text(value) for value in frame[it]]
                 for it in frame.columns if frame[it].dtype == object}
        table = pa.Table.from_pandas(frame.assign(**texts), preserve_index=False)
    try:
        unlink(path)
    except FileNotFoundError:
        pass
    # A new file and no link: code may have put anything under that name.
    with fdopen(open_fd(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), "wb") as sink:
        write_table(table, sink, compression="zstd")
    return file


def as_text(value):
    """Returns a value of a mixed column as text, or nothing for a missing one."""
    json = cell(value, 32_768)
    return json if json is None or type(json) is str else encode(json).decode()


# --- Variables between processes ------------------------------------------------------------------
#
# A snapshot is a directory: `manifest.json` says how each variable is kept, the files beside it hold
# frames and pickles and are named after their content, so that what is unchanged is there already.
# Restoring waits until a variable's name is mentioned: a session with large frames starts at once.


def mention(code):
    """Notes which variables the code speaks of and restores those of an earlier process."""
    words = set(words_of(code))
    if NAMES_MAX < len(state.used):
        state.used = {name: call for name, call in state.used.items() if name in namespace}
        state.sources = {name: it for name, it in state.sources.items() if name in namespace}
    for name in words:
        state.used[name] = state.calls
    if not state.pending:
        return
    if words & {"globals", "locals", "vars", "dir", "eval", "exec", "__main__"}:
        words = set(state.pending)
    restore(words & set(state.pending))


def restore(names):
    """Restores variables, and first what their definitions mention."""
    for name in sorted(names, key=list(state.pending).index):
        entry = state.pending.pop(name, None)
        if entry is None:
            continue  # restored as part of another
        if entry["kind"] == "spark" and cluster is None:
            state.pending[name] = entry
            if name not in state.told:
                state.told.add(name)
                state.notes.append(f"`{name}` is a frame of a cluster, and no dataset of it is at hand")
            continue
        try:
            mentioned = set(words_of(entry.get("source", ""))) | set(entry.get("needs", ()))
            restore(mentioned & set(state.pending))
            restore_one(name, entry)
        except Interrupted:
            state.pending[name] = entry
            raise
        except MemoryError:
            state.pending[name] = entry
            raise
        except BaseException as error:
            state.notes.append(f"`{name}` of an earlier run was lost: "
                               f"it could not be read ({type(error).__name__})")


def restore_one(name, entry):
    kind = entry["kind"]
    path = f"{start['saved']}/{entry['file']}" if "file" in entry else None
    if kind == "json":
        namespace[name] = entry["value"]
    elif kind == "module":
        namespace[name] = import_module(entry["module"])
    elif kind == "source":
        file = f"<cell {crc32(entry['source'].encode()):08x}>"
        show_lines_of(file, entry["source"])
        exec(compile(entry["source"], file, "exec"), namespace)
        state.sources[name] = (file, entry["source"])
    elif kind == "pickle":
        with open(path, "rb") as file:
            namespace[name] = Unpickler(file).load()
    elif kind == "spark":
        with open(path, "rb") as file:
            namespace[name] = cluster.restore(file.read(), entry["generation"])
    else:
        frame = read_table(path, use_threads=False, partitioning=None).to_pandas()
        for column, (categories, ordered) in entry["categories"].items():
            frame[column] = frame[column].cat.set_categories(categories, ordered=ordered)
        namespace[name] = frame.iloc[:, 0].rename(entry["name"]) if kind == "series" else frame


def open_snapshot():
    """Reads the manifest of the last process; what is missing or broken is told, never fatal."""
    if start["saved"] is None:
        return
    try:
        with open(f"{start['saved']}/manifest.json", "rb") as file:
            manifest = decode_at(file.read().decode(), 0)[0]
        for name, entry in manifest["variables"].items():
            if type(entry["kind"]) is not str:
                raise ValueError(name)
            if "file" in entry and not is_whole(entry):
                state.notes.append(f"`{name}` of an earlier run was lost: "
                                   "its file is missing or damaged")
            else:
                state.pending[name] = entry
        state.samples = {it: cut_end(rows, 200) for it, rows in manifest.get("samples", {}).items()
                         if it in manifest["variables"]}
        for name, reason in manifest["lost"].items():
            state.notes.append(f"`{name}` of an earlier run was not kept: {reason}")
    except FileNotFoundError:
        pass  # nothing was saved yet
    except BaseException:
        state.pending.clear()
        state.samples.clear()
        state.notes.append("the variables of earlier runs were lost: their manifest is damaged")


def is_whole(entry):
    try:
        n_bytes = lstat(f"{start['saved']}/{entry['file']}").st_size
    except OSError:
        return False
    return is_plain_name(entry["file"]) and n_bytes == entry["bytes"]


def remember_sources(tree, code):
    """Keeps the text of functions and classes: their names are all that pickle would write."""
    for node in tree.body:
        name = getattr(node, "name", None)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            name = getattr(node.targets[0], "id", None)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno] + [it.lineno for it in decorators]) - 1
        if name is not None:
            text = "".join(code.splitlines(keepends=True)[first:node.end_lineno])
            state.sources[name] = (state.cell, text)


class Unkept(Exception):
    """A variable that a snapshot cannot hold, with the reason."""


def save(request):
    """Writes a snapshot to scratch, without the files that the last one has."""
    here = f"{SCRATCH}/.snapshot-"
    have = dict(request["have"])  # file → bytes
    variables, lost, written = {}, {}, []
    for name, entry in state.pending.items():
        if "file" not in entry or entry["file"] in have:
            variables[name] = entry
        else:
            lost[name] = "its file is gone"
    for name, value in list(namespace.items()):
        if name.startswith("__") or (name in PRELOADED and value is PRELOADED[name]):
            continue
        try:
            variables[name] = entry = keep(name, value, here, have)
            if "file" in entry and entry["file"] not in have:
                have[entry["file"]] = entry["bytes"]
                written.append(entry["file"])
        except Interrupted:
            raise
        except Unkept as error:
            lost[name] = str(error)
        except BaseException as error:
            lost[name] = f"{article(value)} that cannot be written ({type(error).__name__})"
    samples = {name: it for name, it in state.samples.items() if name in variables}
    manifest = encode({"version": 1, "variables": variables, "lost": lost, "samples": samples})
    with open(f"{here}manifest.json", "wb") as file:
        file.write(manifest)
    used = sorted({entry["file"] for entry in variables.values() if "file" in entry})
    return {"result": {"kind": "saved", "kept": list(variables), "lost": lost,
                       "written": written, "used": used}}


def article(value):
    name = type(value).__name__
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def keep(name, value, here, have):
    """Returns the manifest's entry for a variable and writes its file, unless it is in `have`."""
    if isinstance(value, ModuleType):
        return {"kind": "module", "module": value.__name__}
    if type(value) in (DataFrame, Series):
        entry = keep_frame(value, here, have)
        if entry is not None:
            return entry
    if is_lazy(value):
        return keep_lazy(value, here, have)
    if is_json(value, 5):
        text = encode(value)
        if len(text) <= 65_536:
            return {"kind": "json", "value": value}
    if getattr(value, "__module__", None) == "__main__" and hasattr(value, "__qualname__"):
        file, source = state.sources.get(name, (None, None))
        if source is None or isinstance(value, FunctionType) and value.__code__.co_filename != file:
            raise Unkept(f"{article(value)} whose source is not known")
        return {"kind": "source", "source": source}
    sink = Sink()
    Pickler(sink, protocol=5).dump(value)
    content = b"".join(sink.parts)
    file = f"value-{sha256(content).hexdigest()[:32]}.pickle"
    if file not in have:
        with open(f"{here}{file}", "wb") as target:
            target.write(content)
    needs = [type(value).__name__] if type(value).__module__ == "__main__" else []
    return {"kind": "pickle", "file": file, "bytes": len(content), "needs": needs}


class Sink:
    """A file for a pickle that is not meant to grow large."""

    def __init__(self):
        self.parts, self.n_bytes = [], 0

    def write(self, part):
        part = memoryview(part)  # large arrays come as buffers, which have no length
        self.n_bytes += part.nbytes
        if PICKLE_BYTES_MAX < self.n_bytes:
            raise Unkept(f"larger than {PICKLE_BYTES_MAX >> 20} MB, and no table that "
                         "Parquet can hold")
        self.parts.append(bytes(part))


def keep_frame(value, here, have):
    """Returns the entry of a frame that Parquet gives back as it was, else nothing."""
    is_series = type(value) is Series
    if is_series and not (value.name is None or type(value.name) in (str, int)):
        return None
    frame = value.to_frame("value") if is_series else value
    if not frame.columns.is_unique or not all(type(it) is str for it in frame.columns):
        return None
    if frame.attrs:
        return None
    if any(it == object and infer_dtype(frame[name], skipna=True) != "string"
           for name, it in frame.dtypes.items()):
        return None
    try:
        table = pa.Table.from_pandas(frame)
        empty = table.schema.empty_table().to_pandas()
    except (pa.ArrowException, TypeError, ValueError):
        return None
    if list(map(str, empty.dtypes)) != list(map(str, frame.dtypes)):
        return None
    if empty.index.names != frame.index.names:
        return None
    if frame.index.nlevels == 1 and empty.index.dtype != frame.index.dtype:
        return None
    # Parquet keeps the values of a categorical column, but not the categories that no row has.
    categories = {name: [frame[name].cat.categories.tolist(), frame[name].cat.ordered]
                  for name, it in frame.dtypes.items() if it == "category"}
    if not is_json(categories, 3):
        return None
    file = f"frame-{fingerprint(table)}.parquet"
    if file not in have:
        write_table(table, f"{here}{file}", compression="zstd", compression_level=1)
    n_bytes = have.get(file) or lstat(f"{here}{file}").st_size
    entry = {"kind": "series" if is_series else "frame", "file": file, "bytes": n_bytes,
             "categories": categories}
    return {**entry, "name": value.name} if is_series else entry


def keep_lazy(value, here, have):
    """Returns the entry of a frame of the cluster: what it is made of, not its rows."""
    content = cluster.keep(value)
    if content is None:
        raise Unkept("a frame of the cluster with local data that was uploaded for this process only; "
                     "make it again from what is here")
    if PICKLE_BYTES_MAX < len(content):
        raise Unkept(f"a frame of the cluster whose plan is larger than {PICKLE_BYTES_MAX >> 20} MB")
    file = f"plan-{sha256(content).hexdigest()[:32]}.spark"
    if file not in have:
        with open(f"{here}{file}", "wb") as target:
            target.write(content)
    return {"kind": "spark", "file": file, "bytes": len(content), "generation": cluster.GENERATION}


def fingerprint(table):
    """Returns a name for a table's content: its schema and every byte of its columns."""
    digest = sha256(table.schema.serialize())
    for column in table.columns:
        for chunk in column.chunks:
            digest.update(f"{len(chunk)} {chunk.offset} {chunk.type}".encode())
            for buffer in chunk.buffers():
                digest.update(buffer if buffer is not None else b"-")
    return digest.hexdigest()[:32]


def is_json(value, depth):
    """Returns whether a value comes back from JSON as the same value."""
    kind = type(value)
    if value is None or kind in (bool, int):
        return True
    if kind is str:
        return value.isascii() or value.encode("utf-8", "replace").decode() == value
    if kind is float:
        return isfinite(value)
    if kind not in (list, dict) or depth == 0 or 10_000 < len(value):
        return False
    if kind is list:
        return all(is_json(it, depth - 1) for it in value)
    return all(is_json(key, 0) and type(key) is str and is_json(it, depth - 1)
               for key, it in value.items())


# --- Errors ---------------------------------------------------------------------------------------


def failure(error):
    """Returns the outcome of a command that raised."""
    status, name, message = "error", type(error).__name__, ""
    if isinstance(error, Interrupted):
        status, name = "timeout", "TimeoutError"
        text = message = "interrupted at the deadline; variables that were assigned before are kept"
    elif isinstance(error, Refused):
        name, text = "LookupError", str(error)
        message = text
    elif isinstance(error, MemoryError):
        state.ballast = None
        text = f"{traceback_of(error)}\n{memory_hint()}"
        message = message_of(error) or "out of memory"
        name = "MemoryError"
    elif isinstance(error, SystemExit):
        message = f"the code asked to exit with {message_of(error) or 'None'}; the REPL goes on"
        text = f"SystemExit: {message}"
    else:
        message, text = message_of(error), traceback_of(error)
        if not IS_CONTAINER:  # for which nobody writes other code because of it
            if advice := advice_on(error, message):
                text += f"\n{advice}"
            if not isinstance(error, SyntaxError):
                text += "\nVariables that were set before this line are kept."
    text = cut_middle(same_every_time(text), start["text_bytes"])
    details = {"type": name, "message": cut_end(same_every_time(message), 1_000)}
    return {"status": status, "result": {"kind": "error", "error": details, "text": text}}


# Tools of which models think that they are functions here, and what to write instead.
TOOLS = {
    "load_dataset_full": "load(name)",
    "load_dataset_columns": "load(name, columns)",
    "load_dataset_sample": "load(name, n_rows=5)",
    "list_datasets": "`datasets`, whose keys are the names,",
    "get_dataset_info": "load(name).dtypes",
    "find_value_columns": None,
    "send_data_to_ui_as_df": None,
    "send_chart_to_ui": None,
    "python_repl": None,
}
# What draws pictures, which nobody would see.
DRAWS = {"matplotlib", "seaborn", "plotly", "altair", "bokeh", "plotnine", "pygal", "hvplot"}


def advice_on(error, message):
    """Returns what to do instead, for an error that models run into; nothing for any other."""
    try:
        if cluster is not None and (advice := cluster.advice_on(error, message)):
            return advice
        if isinstance(error, ImportError):
            return advice_on_import(error, message)
        if isinstance(error, NameError) and error.name in TOOLS:
            instead = TOOLS[error.name]
            return f"`{error.name}` is a tool, not a Python function: " + (
                f"in Python use {instead}." if instead else "call it as a tool.")
        if name := dataset_meant(error):
            return f"Datasets are not CSV files here: load(\"{name}\") returns this one as a DataFrame."
        if advice := advice_on_columns(error):
            return advice
        if isinstance(error, OSError) and (rule := rule_of(error)):
            return rule
        if isinstance(error, FileNotFoundError):
            names = ", ".join(f"`{it}`" for it in [*start["datasets"]][:20]) or "none"
            return f"The only files here are the datasets ({names}): load one by its name, load(\"name\")."
        if isinstance(error, RuntimeError) and "can't start new thread" in message:
            allowed = start["processes"]
            return (f"At most {allowed} processes and threads may run beside this one." if allowed
                    else f"At most {start['tasks']} threads may run here.")
    except Exception:  # the error is of a class of the code's own
        pass
    return None


def advice_on_import(error, message):
    asked = set(words_of(message)) | {str(error.name).partition(".")[0]}
    if asked & DRAWS:
        return ("Pictures that Python draws do not reach the user: make a DataFrame of what is to be "
                "seen, then call the tool send_chart_to_ui.")
    return f"Nothing can be installed here; there are {start['packages']} and the standard library."


def dataset_meant(error):
    """Returns the dataset that the code took for a file to be opened, or read as text."""
    names = start["datasets"]
    if isinstance(error, FileNotFoundError) and type(error.filename) is str:
        stem = error.filename.rsplit("/", 1)[-1].partition(".")[0].casefold()
        return next((it for it in names if it.casefold() == stem), None)
    # A Parquet file is neither UTF-8 nor CSV.
    if not isinstance(error, UnicodeDecodeError) and type(error).__name__ != "ParserError":
        return None
    files = dict.fromkeys(it.f_code.co_filename for it, _ in walk_tb(error.__traceback__))
    code = "".join("".join(LINES[it][2]) for it in files if it.startswith("<cell ") and it in LINES)
    return next((it for it in sorted(names, key=len, reverse=True) if it in code), None)


def advice_on_columns(error):
    """Returns which columns a frame has, for an error that comes of one that it has not."""
    said = error.args[0] if error.args else ""
    if type(said) is not str:
        return None
    if isinstance(error, AttributeError):
        asked = [error.name]
    elif isinstance(error, KeyError) or type(error).__name__ == "UndefinedVariableError":
        asked = quoted(said.partition("dtype=")[0]) or [said]
    else:
        return None
    known = columns_asked(error)
    missing = [it for it in dict.fromkeys(asked) if known and it not in known]
    if not missing or isinstance(error, AttributeError) and not nearest(missing[0], known):
        return None
    there = "There is" if len(missing) == 1 else "There are"
    return cut_end(f"{there} {no_columns(missing, known)}", 1_500)


# Functions of pandas that look for a row where `axis` is 0.
FINDS_ROWS = {"xs", "_get_label", "_getitem_axis", "_drop_axis"}


def columns_asked(error):
    """Returns the columns of the frame that was asked for a column when an error was raised."""
    frames = [it for it, _ in walk_tb(error.__traceback__)]
    if frames[-1].f_code.co_filename.startswith("<cell "):
        return None  # the code raised it, of a mapping of its own
    for frame in reversed(frames):
        found = frame.f_locals
        if frame.f_code.co_filename.startswith("<cell "):
            continue
        if frame.f_code.co_name in FINDS_ROWS and found.get("axis") == 0:
            return None
        for value in (found.get("self"), found.get("obj"), found.get("frame")):
            value = getattr(value, "obj", value) if not is_frame(value) else value
            if issubclass(type(value), DataFrame):
                return [it for it in value.columns if type(it) is str]
    return None


def rule_of(error):
    """Returns the rule of the confinement that an error probably comes from, or nothing."""
    files = [it.f_code.co_filename for it, _ in walk_tb(error.__traceback__)]
    if any(it.endswith(("/socket.py", "/ssl.py", "/urllib/request.py")) for it in files):
        return "There is no network here; only the registered datasets can be read."
    starts = any(it.endswith("/subprocess.py") for it in files)
    if error.errno == EAGAIN or error.errno == EPERM and starts:
        allowed = start["processes"]
        return (f"At most {allowed} processes may run beside this one." if allowed
                else "No other process can be started here.")
    if error.errno == EFBIG:
        return f"A file may have at most {start['file_bytes'] >> 20} MB."
    if error.errno in (EACCES, EPERM, EROFS, EXDEV) or error.errno == ENOENT and is_outside(error):
        return ("Only the datasets and Python's own files can be read here, and files can be written "
                "only in the working directory. Load a dataset by its name: load('name').")
    return None


def is_outside(error):
    path = error.filename
    return type(path) is str and path.startswith("/") and not path.startswith(SCRATCH)


def memory_hint():
    return (f"The memory limit of {start['memory_bytes'] >> 20} MB was reached. The variables are "
            "kept. Need less: load only some columns, work on a sample, use smaller dtypes "
            "(category, float32), aggregate before merging, or delete frames that are done with.")


def message_of(error):
    try:
        # A SyntaxError's text also has the name and the line of the cell.
        said = error.msg if isinstance(error, SyntaxError) else error
        return cut_end(without_inside(str(said)), MESSAGE_CHARS_MAX)
    except Exception:  # it is the code's own class
        return ""


def traceback_of(error):
    """Returns a traceback of the code's own frames; what libraries do inside is noise here."""
    try:
        report = TracebackException(type(error), error, error.__traceback__, compact=True)
        return only_own_frames(report, 8)
    except Exception:  # the code has replaced parts of the library
        return f"{type(error).__name__}: {message_of(error)}"


def only_own_frames(report, depth):
    # The chain of causes, oldest first, without those that happened wholly inside a library.
    parts, links = [], []
    while report is not None and depth:
        own = [frame for frame in report.stack if frame.filename.startswith("<cell ")]
        if len(own) > 12:
            own = own[:6] + own[-6:]
        stack = StackSummary.from_list(
            [FrameSummary(said(it.filename), it.lineno, it.name, line=it.line) for it in own])
        if isinstance(getattr(report, "filename", None), str):
            report.filename = said(report.filename)
        if own or not parts:
            lines = ["Traceback (most recent call last):\n", *stack.format()] if own else []
            parts.append("".join([*lines, *map(cut_line, report.format_exception_only())]))
            links.append("\nThe above exception led to the following one:\n\n")
        hidden = report.__suppress_context__
        report, depth = report.__cause__ or (None if hidden else report.__context__), depth - 1
    text = parts.pop()
    while parts:
        text += links[0] + parts.pop()
    return text.rstrip()


def said(file):
    """Returns the name of a piece of code as the model reads it."""
    if file == state.cell:
        return "<cell>"
    return "<earlier cell>" if file.startswith("<cell ") else "<string>"


def cut_line(line):
    return cut_end(without_inside(line), MESSAGE_CHARS_MAX)


def without_inside(text):
    return without_stack("", without_plan(r"\1", text)) if cluster is not None else text


# --- The loop -------------------------------------------------------------------------------------

COMMANDS = {"run": run, "load": load_into, "fetch": fetch, "find": find, "keep": keep_aside, "save": save}


def on_interrupt(_signal, _frame):
    if state.running:
        raise Interrupted


def show_warning(message, category, _file, _line, file=None, line=None):
    """A warning without the path and line of the library that gave it."""
    (file or sys.stderr).write(same_every_time(f"{category.__name__}: {message}\n"))


class Output(io.TextIOWrapper):
    """What code prints to, which also keeps it in case that it is too long to be shown."""

    def write(self, text):
        if state.printed_chars < PRINTED_CHARS_MAX:
            part = text[: PRINTED_CHARS_MAX - state.printed_chars]
            state.printed_chars += len(part)
            state.printed.append(part)
        return super().write(text)


def new_output():
    raw = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
    return Output(raw, "utf-8", errors="backslashreplace")


def repair():
    """Undoes what code may have done to the process and what the next call would stumble over."""
    for name, value in BUILTINS_AT_START.items():
        if BUILTINS.get(name) is not value:
            BUILTINS[name] = value
    setitimer(ITIMER_REAL, 0)
    set_handler(SIGINT, on_interrupt)
    pthread_sigmask(SIG_SETMASK, [])
    dup2(NULL, 0)
    dup2(OUTPUT, 1)
    dup2(OUTPUT, 2)
    chdir(SCRATCH)
    sys.setrecursionlimit(1_000)
    sys.settrace(None)
    sys.setprofile(None)
    if sys.modules is not MODULES:
        sys.modules = MODULES
    for name, value in MODULES_AT_START.items():
        if MODULES.get(name) is not value:
            MODULES[name] = value
    if output[0].closed:
        output[0] = new_output()
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = output[0]
    namespace["__builtins__"] = MODULES["builtins"]
    namespace["__name__"] = "__main__"
    namespace.pop("__warningregistry__", None)  # so that a warning comes in each call, not once


def take_ballast():
    """Sets memory aside again after it ran out, once there is clearly more than that."""
    if state.ballast is None:
        try:
            bytearray(4 * BALLAST_BYTES)
            state.ballast = bytearray(BALLAST_BYTES)
        except MemoryError:
            pass


def open_cluster():
    """Loads Spark's client and gives it the stream to the relay. Nothing is sent yet."""
    made = ModuleType("cluster")
    made.__dict__.update(start=CLUSTER, number=RELAY, __builtins__=dict(BUILTINS))
    exec(compile(CLUSTER.pop("program"), "<spark>", "exec"), made.__dict__)
    return made


def renew_session():
    """Puts a new session into `spark` where the last one was stopped, by code or by the server."""
    now = cluster.session()
    if namespace.get("spark") is PRELOADED["spark"]:
        namespace["spark"] = now
    PRELOADED["spark"] = now


def perform(request):
    """Returns the outcome of a command. Whatever the code does, an outcome comes of it."""
    try:
        state.running = True
        try:
            if cluster is not None:
                renew_session()
            outcome = {"status": "ok", **COMMANDS[request["command"]](request)}
        except BaseException as error:
            outcome = failure(error)
        if IS_CONTAINER:  # which keeps nothing aside, and every frame
            state.printed, state.printed_chars = [], 0
        else:
            put_printed_aside(outcome["result"])
            prune()
        state.running = False
    except BaseException as error:
        state.running = False
        interrupted = isinstance(error, Interrupted)
        text = ("interrupted at the deadline; the variables are kept" if interrupted
                else "the result cannot be shown: showing it raised another error")
        details = {"type": "TimeoutError" if interrupted else "RuntimeError", "message": text}
        outcome = {"status": "timeout" if interrupted else "error",
                   "result": {"kind": "error", "error": details, "text": text}}
    return outcome


def serve(request):
    """Performs one command and answers it."""
    state.calls += 1
    repair()
    take_ballast()
    outcome = perform(request)
    if getpid() != PID:
        _exit(0)  # the code forked, and this is the child: only one of the two answers
    repair()
    if state.notes:
        outcome["result"]["notes"] = [cut_end(it, 300) for it in state.notes[:8]]
        state.notes = []
    try:
        output[0].flush()
    except BaseException:
        output[0] = new_output()
    respond(request["id"], outcome)


def respond(identifier, message):
    """Ends the output of this command with a mark, then writes the response."""
    line = encode({"id": identifier, **message})
    if start["line_bytes"] <= len(line):
        text = "the result is too large to be sent"
        details = {"type": "MemoryError", "message": text}
        line = encode({"id": identifier, "status": "error",
                       "result": {"kind": "error", "error": details, "text": text}})
    write_all(OUTPUT, b"\0" + identifier.encode() + b"\0")
    write_all(RESPONSES, line + b"\n")


def write_all(number, content):
    while content:
        content = content[write(number, content):]


def requests():
    """Yields the commands; ends the process when the parent has gone."""
    rest = b""
    while True:
        while b"\n" not in rest:
            part = read(REQUESTS, 1 << 20)
            if not part:
                _exit(0)
            rest += part
        line, rest = rest.split(b"\n", 1)
        yield decode_at(line.decode(), 0)[0]


def warm_up():
    """Starts the native thread pools and loads what would be imported late.

    Under the memory limit a pool that is not there yet cannot always be made, and then Arrow waits
    for ever and OpenBLAS ends the process. After this, lack of memory is a `MemoryError`.
    """
    sink = io.BytesIO()
    frame = DataFrame({"a": [1.5], "b": ["x"], "c": [Timestamp("2020-01-01")]})
    frame.to_parquet(sink)
    frame = pd.read_parquet(sink)
    square = np.ones((64, 64)) @ np.ones((64, 64))
    np.linalg.inv(np.eye(8) + square[:8, :8])
    show(frame.groupby("b").a.mean())
    repr(frame)


def limit_processes(n_processes):
    """Allows as many processes beside those that are there, of which threads of libraries are some.

    Nothing here says how many there are, so the limit is raised until there is room for one more.
    """
    most = getrlimit(RLIMIT_NPROC)[1]
    for n_there in range(most):
        setrlimit(RLIMIT_NPROC, (n_there + 1, most))
        try:
            start_new_thread(int, ())
        except RuntimeError:
            continue
        bound = min(n_there + n_processes, most)
        setrlimit(RLIMIT_NPROC, (bound, bound))
        return


with catch_warnings():
    simplefilter("ignore")
    warm_up()
if CLUSTER is not None:
    cluster = open_cluster()  # its threads are there before the processes are counted
if start["processes"] is not None:
    limit_processes(start["processes"])

import warnings  # noqa: E402

warnings.showwarning = show_warning
if IS_CONTAINER:
    fill_container()
    PRELOADED = {"display": display}
else:
    if not np.__version__.startswith("1."):
        np.set_printoptions(legacy="1.25")  # 0.83, not np.float64(0.83)
    pd.set_option("display.width", 160, "display.max_columns", 40, "display.max_colwidth", 80)
    PRELOADED = {"pd": pd, "np": np, "load": load, "datasets": link_datasets(), "num": num}
if cluster is not None:
    PRELOADED["spark"] = cluster.session()
main = ModuleType("__main__")
namespace = main.__dict__  # pickle finds the code's classes there
namespace.update(PRELOADED)
sys.modules["__main__"] = main

output = [new_output()]
BUILTINS_AT_START = dict(BUILTINS)
MODULES = sys.modules
MODULES_AT_START = dict(MODULES)

open_snapshot()
repair()
versions = {"python": sys.version.split()[0], "pandas": pd.__version__, "numpy": np.__version__,
            "pyarrow": pa.__version__}
respond(start["id"], {"ready": versions})
for request in requests():
    serve(request)
