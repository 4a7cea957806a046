"""Datasets: `load` reads a dataset or a part of it; a name that does not exist is refused with the nearest."""

from importlib import import_module
from os import listdir, mkdir, symlink, unlink
from shutil import rmtree

import pandas as pd
import pyarrow as pa
from pyarrow.parquet import ParquetFile

NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}


def link_datasets():
    """Returns name → relative path, so that code prints the same path on every machine."""
    fresh_directory("datasets")
    links = {}
    for number, (name, path) in enumerate(start["datasets"].items()):
        file = name if is_plain_name(name) else f"dataset-{number}"
        links[name] = f"datasets/{file}.parquet"
        symlink(path, links[name])
    return links


def fresh_directory(path):
    """Makes an empty directory, in place of anything that an earlier process left at that path."""
    try:
        unlink(path)
    except OSError:
        rmtree(path, ignore_errors=True)
    mkdir(path)


def results():
    """Returns the results of queries of this question: name → path."""
    path = start["results"]
    files = [] if path is None else listdir(path)
    return {it.removesuffix(".parquet"): f"{path}/{it}" for it in sorted(files) if it.endswith(".parquet")}


def read_dataset(name, columns, n_rows, text=()):
    """Returns a dataset or result, or a part of it, as `pandas.read_parquet` would. One of the cluster is lazy."""
    if n_rows is not None and n_rows < 0:
        raise Refused(f"`n_rows` is {n_rows}; it must be 0 or more, or None for all rows")
    remote = CLUSTER["datasets"] if CLUSTER is not None else {}
    if name in remote:
        return read_remote(name, columns, n_rows, text)
    path = start["datasets"].get(name) or results().get(name)
    if path is None:
        known = sorted([*start["datasets"], *remote, *results()])
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
                      "`csv-agent doctor --session` checks it") from None
    if columns is not None:  # the file has its own order, and may have an index column of pandas
        table = table.select(columns + [it for it in table.column_names if it not in columns])
    # Where a value is missing, pandas would turn whole numbers into floats and truth values into objects.
    exact = [it.name for it in table.schema if it.type in NULLABLE and table[it.name].null_count]
    exact = table.select(exact).to_pandas(types_mapper=NULLABLE.get)
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    for name in exact:
        frame[name] = exact[name]
    return frame


def check_columns(name, known, columns):
    """Refuses columns that are not among the known ones, and an empty list."""
    missing = [it for it in dict.fromkeys(columns or ()) if it not in known]
    if missing:
        raise Refused(cut_end(f"`{name}` has {no_columns(missing, known)}", MESSAGE_CHARS_MAX))
    if columns is not None and not columns:
        raise Refused("`columns` is empty; name at least one column")


def no_columns(missing, known):
    """Returns a sentence with the missing names, the nearest column to each, and all columns."""
    shown = ", ".join(f"`{it}`{nearest(it, known)}" for it in missing[:20])
    kind = "column" if len(missing) == 1 else "columns"
    return f"no {kind} {shown}; the columns are: {', '.join(f'`{it}`' for it in known)}"


def nearest(name, known):
    """Returns the name that was probably meant as a remark in brackets, or an empty text."""
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
    """Returns the warning that a result derives from a part of a dataset."""
    return f"{of_what}: load the dataset before computing an answer"


def rows_of(name):
    """Returns how many rows a dataset has. The number is not known for a dataset of the cluster."""
    path = start["datasets"].get(name)
    return "the" if path is None else ParquetFile(path).metadata.num_rows


def first_rows(file, columns, n_rows):
    """Returns the first rows as a table. Row groups behind them are not read."""
    batches, n_read = [], 0
    size = max(1, min(n_rows, 65_536))
    options = {"columns": columns, "use_threads": False, "use_pandas_metadata": True}
    for batch in file.iter_batches(size, **options):
        batches.append(batch)
        n_read += batch.num_rows
        if n_rows <= n_read:
            break
    if not batches:
        return file.read(**options)
    return pa.Table.from_batches(batches).slice(0, n_rows)


def load(name, columns=None, n_rows=None, text=()):
    """Return a dataset, or a result of query_datasets, as a DataFrame: load("sales", columns=["day", "price"]).

    A dataset on a cluster comes as a lazy Spark DataFrame; `n_rows` gives its first rows in pandas, `text`
    names columns that are wanted as text, for values that do not fit their type.
    """
    return read_dataset(name, None if columns is None else names_in(columns), n_rows, names_in(text))


def names_in(columns):
    """Returns a list of names; a single name becomes a list of one."""
    return [columns] if type(columns) is str else list(columns)
