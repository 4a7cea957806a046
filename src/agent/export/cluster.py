def _spark_at(url):
    """Returns a session of the cluster. As they were then, times are UTC, and errors are only raised."""
    import time

    os.environ["TZ"] = "UTC"
    time.tzset()
    # So that code finds this session, not one of its own.
    os.environ["SPARK_REMOTE"] = url
    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.dataframe import DataFrame

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    session = SparkSession.builder.remote(url).getOrCreate()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    exec(compile(_READING, "<reading>", "exec"), _CLUSTER)
    DataFrame.toPandas = _CLUSTER["to_pandas"]
    _CLUSTER["session"] = session
    return session


_CLUSTER = {}


def _placed(paths, datasets):
    """Returns what is read of the cluster, each from the path or table that was said."""
    for name, dataset in datasets.items():
        source = dataset["remote"]["source"]
        if source["kind"] == "table":
            source["name"] = paths[name]
        else:
            source["paths"] = [paths[name]]
    return datasets


def _load_any(name, columns=None, n_rows=None, text=()):
    """Returns a dataset, or a part of it: one of the cluster as a lazy DataFrame, its first rows in pandas."""
    if name not in _REMOTE:
        return _load_here(name, columns, n_rows)
    frame = _CLUSTER["read_remote"](_CLUSTER["session"], name, _REMOTE[name], columns, text)
    return frame if n_rows is None else frame.limit(n_rows).toPandas()


def _sent(value, n_rows_max):
    """Returns a table as it was sent: of a frame of the cluster the first rows, and how many there are."""
    if isinstance(value, (pd.DataFrame, pd.Series)):
        return value.copy()
    first = value.limit(n_rows_max + 1).toPandas()
    n_rows = len(first) if len(first) <= n_rows_max else value.count()
    first = first.head(n_rows_max)
    first.attrs.update(n_rows=n_rows, is_sorted=_is_sorted(value))
    return first


def _is_sorted(frame):
    """Returns whether the rows of a frame of the cluster come in an order."""
    step = frame._plan.to_proto(frame._session.client).root
    while True:
        kind = step.WhichOneof("rel_type")
        if kind == "sort":
            return step.sort.is_global
        if kind not in ("project", "limit", "offset", "filter", "with_columns", "with_columns_renamed",
                        "drop", "to_df", "subquery_alias"):
            return False
        step = getattr(step, kind).input


def _check_sent(what, value, columns, rows, row_count, ordered=False, row_labels=False):
    """Fails unless a table is what it was then. What a cluster did not sort may come in any order."""
    n_rows = value.attrs.get("n_rows")
    if n_rows is None:
        _check_table(what, value, columns, rows, row_count, ordered, row_labels)
        return
    _expect(n_rows == row_count, f"{what}: {row_count} rows then, {n_rows} now")
    is_sorted = value.attrs["is_sorted"]
    if is_sorted or len(rows) == row_count:
        _check_table(what, value, columns, rows, len(value), ordered and is_sorted, row_labels)
    else:
        _check_among(what, value, columns, rows, len(value) == n_rows)


def _check_among(what, value, columns, rows, is_whole):
    """Fails unless some rows are among those of a table, wherever. Of a part of one, that says nothing."""
    frame = _flat(value)
    missing = [it for it in columns if it not in frame.columns]
    _expect(not missing, f"{what}: no column {', '.join(missing)} now")
    if not is_whole:
        return

    def key(row):
        numbers = [it for it in row if isinstance(it, float)]
        return [str(it) for it in row if not isinstance(it, float)], numbers

    found = iter(sorted(zip(*[_cells(frame[it]) for it in columns]), key=key))
    for then in sorted(rows, key=key):
        _expect(any(all(map(_same, then, now)) for now in found), f"{what}: {then} is missing now")
