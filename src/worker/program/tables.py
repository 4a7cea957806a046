"""Commands behind the tools: load a dataset into a variable, find a value, send a table to the user."""

from keyword import iskeyword
from os import O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY, fdopen, open as open_fd, unlink

import pyarrow as pa
from pyarrow.parquet import write_table

FRAME_JSON_BYTES_MAX = start["line_bytes"] // 2


def load_into(request):
    """Reads a dataset into a variable."""
    variable = request["variable"]
    if not variable.isidentifier() or iskeyword(variable) or variable.startswith("__"):
        raise Refused(f"`{variable}` cannot be a variable; use letters, digits and underscores, "
                      "such as `df`")
    if variable in PRELOADED:
        raise Refused(f"`{variable}` is reserved here; choose another name, such as `df`")
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
    """Counts a value in each column of a dataset of the cluster."""
    name = request["dataset"]
    if CLUSTER is None or name not in CLUSTER["datasets"]:
        raise Refused(f"no dataset `{name}` on a cluster")
    return {"result": {"kind": "matches", "columns": cluster.find(name, request["value"])}}


def fetch(request):
    """Returns the first rows of a frame. With `write`, the whole frame is also written to a file."""
    name, columns = request["variable"], request["columns"]
    mention(name)
    if name in namespace and not name.startswith("__"):
        value = namespace[name]
    elif name in results():
        value = read_dataset(name, None, None)
    else:
        raise Refused(f"no variable `{name}`; {frames_known()}")
    n_rows = None
    if is_lazy(value):
        value, n_rows = collect(name, value, request)
    if not is_frame(value):
        raise Refused(f"`{name}` is a {type(value).__name__}, not a DataFrame; {frames_known()}")
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


def forget(request):
    """Forgets a variable. A result of a query has its name now."""
    namespace.pop(request["variable"], None)
    state.pending.pop(request["variable"], None)
    return {"result": {"kind": "none"}}


def collect(name, value, request):
    """Returns the first rows of a frame of the cluster, and the number of all its rows."""
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
    """Returns a sentence with the names of the frames."""
    lazy = [name for name, it in namespace.items() if is_lazy(it)]
    lazy += [name for name, it in state.pending.items() if it["kind"] == "spark"]
    known = ", ".join(f"`{name}`" for name in (frames() + lazy + [*results()])[:50])
    return f"the DataFrames are: {known}" if known else "there is no DataFrame yet"


def within(rows, names_bytes, n_bytes):
    """Returns as many first rows as fit into `n_bytes` of JSON, where each row repeats the column names."""
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
        # A column of mixed objects has no Parquet type. As text it is complete.
        texts = {it: [as_text(value) for value in frame[it]]
                 for it in frame.columns if frame[it].dtype == object}
        table = pa.Table.from_pandas(frame.assign(**texts), preserve_index=False)
    try:
        unlink(path)
    except FileNotFoundError:
        pass
    # It must be a new file: code may have made a link of that name.
    with fdopen(open_fd(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), "wb") as sink:
        write_table(table, sink, compression="zstd")
    return file


def as_text(value):
    """Returns a value of a mixed column as text, or None if it is missing."""
    json = cell(value, 32_768)
    return json if json is None or type(json) is str else encode(json).decode()
