def _text_of(path, encoding):
    """Opens a file as text, line ends as they are."""
    return open(path, encoding=encoding, errors="replace", newline="")


def _unpacked_text_of(path, encoding):
    """Opens a compressed file as text, line ends as they are."""
    with open(path, "rb") as file:
        begin = file.read(4)
    if begin[:2] == b"PK":
        archive = zipfile.ZipFile(path)
        files = [it for it in archive.namelist() if not it.startswith("__MACOSX/")]
        opened = archive.open(next(it for it in files if not it.endswith("/")))
    else:
        opened = (gzip if begin[:2] == b"\x1f\x8b" else bz2).open(path)
    return io.TextIOWrapper(opened, encoding=encoding, errors="replace", newline="")


def _columns_of(lines, width, first, header=None, skip=(), extra=False, **dialect):
    """Returns the cells of each column as text; what a short row has not is empty.

    Lines are counted from 1. Those before `first` and those in `skip` begin no row. Columns are found by
    their names in the header, which is the last record before the rows.
    """
    csv.field_size_limit(2**31 - 1)
    columns = [[] for _ in range(width + extra)]
    places, head = range(width), header
    with lines:
        records = csv.reader(lines, **dialect)
        end = 0
        for record in records:
            begin, end = end + 1, records.line_num
            if not record or begin in skip:
                continue
            if begin < first:
                head = record if header else None
                continue
            if head != header:
                places, header = _places(header, head), head
            for cells, at in zip(columns, places):
                cells.append(record[at] if at < len(record) else "")
            if extra:
                columns[width].append(dialect["delimiter"].join(record[width:]))
    return columns


def _places(header, found):
    """Returns where the columns of a header are in another one."""
    missing = [it for it in header if it not in found]
    if missing:
        sys.exit(f"no column {', '.join(missing)}; the columns are {', '.join(found)}")
    return [found.index(it) for it in header]


def _must_be(path, sha256):
    """Ends where a file is another than the one of which it is known which lines are no rows."""
    with open(path, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != sha256:
            sys.exit(f"{path} is not the original file, so it is not known which lines are rows: "
                     "use `csv-agent rerun --against`")


def _text(cells, missing=("",)):
    # Text is `object` in pandas 2 and `str` in pandas 3.
    return pd.Series([None if it in missing else it for it in cells], dtype=pd.Series(["text"]).dtype)


def _whole_numbers(cells, missing=("",), thousands=""):
    numbers = [None if it in missing else int(_ungrouped(it, thousands)) for it in cells]
    return pd.Series(numbers, dtype="Int64" if None in numbers else "int64")


def _numbers(cells, missing=("",), thousands="", decimal="."):
    def number(cell):
        return float(_ungrouped(cell, thousands).replace(decimal, "."))

    return pd.Series([None if it in missing else number(it) for it in cells], dtype="float64")


def _ungrouped(cell, thousands):
    """Returns a number without what stands between its thousands."""
    if thousands == " ":
        return "".join(cell.split())
    return cell.strip().replace(thousands, "") if thousands else cell.strip()


def _truths(cells, missing=("",), yes="true"):
    words = {yes: True, {"true": "false", "yes": "no", "y": "n", "t": "f", "on": "off"}[yes]: False}
    found = [None if it in missing else words[it.strip().lower()] for it in cells]
    return pd.Series(found, dtype="boolean" if None in found else "bool")


def _days(cells, missing=("",)):
    found = [None if it in missing else datetime.date.fromisoformat(it.strip()) for it in cells]
    return pd.Series(found, dtype=object)


def _times(cells, missing=("",)):
    found = [None if it in missing else datetime.time.fromisoformat(it.strip()) for it in cells]
    return pd.Series(found, dtype=object)


def _moments(cells, missing=("",)):
    found = ["NaT" if it in missing else it.strip().replace(" ", "T") for it in cells]
    return pd.Series(np.array(found, dtype="datetime64[us]"))


def _instants(cells, missing=("",)):
    found = pd.Series([None if it in missing else it.strip() for it in cells], dtype=object)
    return pd.to_datetime(found, utc=True, format="ISO8601").dt.as_unit("us")


def _local_days(cells, order, missing=("",)):
    found = [None if it in missing else _local(it, order).date() for it in cells]
    return pd.Series(found, dtype=object)


def _local_moments(cells, order, missing=("",)):
    found = [None if it in missing else _local(it, order) for it in cells]
    return pd.Series(np.array(found, dtype="datetime64[us]"))


def _local(cell, order):
    """Returns a day as people write it, with its time of day: `31/12/24 5:30 PM`, `Jan 3, 2024`."""
    *parts, clock = _LOCAL.fullmatch(cell.strip()).groups()
    if parts[0][0].isalpha():
        order = "mdy"
    part = dict(zip(order, parts))
    month = part["m"].lower()[:3]
    month = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    year = int(part["y"])
    if len(part["y"]) == 2:
        year += 1900 if 69 <= year else 2000
    hour, minute, second, fraction, half = _CLOCK.fullmatch(clock or "00:00").groups()
    hour = int(hour)
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    micros = int((fraction or "").ljust(6, "0")[:6])
    return datetime.datetime(year, month, int(part["d"]), hour, int(minute), int(second or 0), micros)


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


_LOCAL = re.compile(r"(\w+)[\s/.,-]+(\w+)[\s/.,-]+(\w+)(?:,?[ T]+(\S.*))?")


_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*([aApP])?\.?[mM]?\.?")


def _tables_of(paths, readers):
    """Reads each file."""
    for name, path in paths.items():
        if not os.path.exists(path):
            sys.exit(f"no file {path}; name its path: {name}=PATH")
    return {name: readers[name](path) for name, path in paths.items()}


def load(name, columns=None, n_rows=None):
    """Returns a dataset, or a part of it, as a DataFrame of its own."""
    frame = _TABLES[name]
    frame = frame if columns is None else frame[list(columns)]
    return (frame if n_rows is None else frame.head(n_rows)).copy()


def _query(sql, short=()):
    """Returns the result of a SELECT statement over the tables, some of them under a short name too."""
    with duckdb.connect() as connection:
        for name, frame in [*_TABLES.items(), *((it, _TABLES[short[it]]) for it in short)]:
            # A column without values fits any type.
            empty = [it.replace('"', '""') for it in frame.columns if frame[it].isna().all()]
            if empty:
                connection.register(f"file of {name}", frame)
                nulls = ", ".join(f'NULL AS "{it}"' for it in empty)
                connection.execute(f'CREATE VIEW "{name}" AS SELECT * REPLACE ({nulls}) FROM "file of {name}"')
            else:
                connection.register(name, frame)
        found = connection.execute(sql)
        dates = [column[0] for column in found.description if column[1] == "DATE"]
        frame = found.df()
        return frame.assign(**{it: frame[it].dt.date for it in dates})


def _parquet_names():
    """Returns the datasets as names of Parquet files, which `pd.read_parquet` takes for what they hold."""
    names = {f"{name}.parquet": name for name in _TABLES}
    read_parquet = pd.read_parquet

    def read(path, *args, columns=None, **options):
        if path not in names:
            return read_parquet(path, *args, columns=columns, **options)
        frame = load(names[path], columns)
        # Of a file, pandas makes floats of whole numbers where some are missing.
        floats = {it: "float64" for it, dtype in frame.dtypes.items() if dtype == "Int64"}
        objects = [it for it, dtype in frame.dtypes.items() if dtype == "boolean"]
        truths = {it: frame[it].astype(object).where(frame[it].notna(), None) for it in objects}
        return frame.astype(floats).assign(**truths)

    pd.read_parquet = read
    return {name: path for path, name in names.items()}


def _parquet_files():
    """Returns the datasets as Parquet files."""
    directory = tempfile.mkdtemp()
    files = {name: os.path.join(directory, f"{name}.parquet") for name in _TABLES}
    for name, path in files.items():
        load(name).to_parquet(path)
    return files


def _parquet_table(path):
    """Returns a Parquet file as a DataFrame that keeps whole numbers and truths where some are missing."""
    table = pyarrow.parquet.read_table(path)
    exact = {pyarrow.int64(): pd.Int64Dtype(), pyarrow.bool_(): pd.BooleanDtype()}
    names = [it.name for it in table.schema if it.type in exact and table[it.name].null_count]
    kept = table.select(names).to_pandas(types_mapper=exact.get)
    frame = table.to_pandas()
    return frame.assign(**{name: kept[name] for name in names})
