"""Frames as the model sees them: plain column names, types, and the first rows that fit."""

from pandas import DataFrame, RangeIndex, Series
from pandas.api.types import is_integer_dtype

HEAD_ROWS_MAX = 20


def is_frame(value):
    """Returns whether a value is a frame or a series of pandas."""
    # `isinstance` would ask the value's own `__class__`.
    return issubclass(type(value), (DataFrame, Series))


def is_lazy(value):
    """Returns whether a value is a frame of the cluster, whose rows are not in this process."""
    return cluster is not None and cluster.is_frame(value)


def column_text(name):
    """Returns a column's name as text; the levels of a MultiIndex are joined."""
    if isinstance(name, tuple):
        return "_".join(part for part in map(column_text, name) if part)
    return cut_end(name if type(name) is str else str(cell(name, 1024)), 1024)


def unique(names):
    """Returns the names, made unique: the second `a` becomes `a_2`."""
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

    A nameless range holds no information and is dropped. Sorting and filtering turn such a range into
    nameless whole numbers; they are kept only if `row_labels` asks for them.
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
    """Returns `result`, with a note and the number of columns if not all of them are shown."""
    if columns < n_columns:
        result["column_count"] = n_columns
        state.notes.append(f"{columns} of {n_columns} columns are shown")
    return result


def show_lazy(value):
    """Returns a frame of the cluster as the model sees it, without running a job."""
    names, dtypes = cluster.describe(value)
    n_columns = len(names)
    for columns, n_chars in ((1_000, 200), (200, 200), (100, 60), (40, 40), (8, 30)):
        shown = [cut_end(it, n_chars) for it in names[:columns]]
        result = {
            "kind": "spark_dataframe",
            "columns": shown,
            "dtypes": dict(zip(shown, [cut_end(it, n_chars) for it in dtypes])),
            "text": "lazy: nothing has been read; aggregate on the cluster, then use toPandas()",
        }
        if len(encode(result)) <= start["result_bytes"]:
            break
    return of_columns(result, columns, n_columns)
