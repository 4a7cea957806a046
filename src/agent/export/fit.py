"""Finds out how plain Python reads a source so that the same table comes out as in a dataset."""

CODECS = {"utf-8": ["utf-8-sig"], "utf-16le": ["utf-16", "utf-16-le"], "utf-16be": ["utf-16", "utf-16-be"],
          "x-mac-cyrillic": ["mac-cyrillic"], "windows-949": ["cp949"], "euc-kr": ["cp949"],
          "gbk": ["gb18030"], "windows-31j": ["cp932"], "shift_jis": ["cp932"], "macintosh": ["mac-roman"]}
SKIPPED_MAX = 1_000
MARKERS_MAX = 50
GROUPS = [("", "."), (",", "."), ("", ","), (".", ","), (" ", ","), (" ", "."), ("'", "."), ("'", ",")]


class Unfit(Exception):
    """Why plain Python does not give the same."""


def starts(source, n_rows):
    """Yields the line on which each row begins."""
    runs = source["lines"]
    if runs is None:
        runs = [[0, 1]] if source["has_header"] else []
    line, row = 1, 0
    for n_kept, n_more in runs:
        for _ in range(n_kept):
            yield line
            line, row = line + 1, row + 1
        line += n_more
    while row < n_rows:
        yield line
        line, row = line + 1, row + 1


def split(source, opened, dialect, n_rows):
    """Returns the line of the first row, the lines behind it that begin none, and the header."""
    csv.field_size_limit(2**31 - 1)
    wanted = starts(source, n_rows)
    expected, first = next(wanted, None), None
    kept, skipped, head = [], [], None
    with opened as lines:
        records, end = csv.reader(lines, **dialect), 0
        for record in records:
            begin, end = end + 1, records.line_num
            if not record:
                continue
            if begin == expected:
                first = first or begin
                kept.append(record)
                expected = next(wanted, None)
            elif first is None:
                head = record
            else:
                skipped.append(begin)
                if SKIPPED_MAX < len(skipped):
                    raise Unfit("too many lines of the file are not rows")
    if len(kept) != n_rows:
        raise Unfit("its rows are separated in another way")
    return first or 1, skipped, head if source["has_header"] else None


def dialects(source):
    quote, escape = source["quote"], source["escape"]
    dialect = {"delimiter": source["delimiter"] or "\x1f"}
    if len(dialect["delimiter"]) == 2 and dialect["delimiter"][1] == " ":
        dialect = {"delimiter": dialect["delimiter"][0], "skipinitialspace": True}
    if len(dialect["delimiter"]) != 1:
        raise Unfit("its delimiter has several characters")
    if quote not in (None, '"'):
        dialect["quotechar"] = quote
    if escape:
        dialect |= {"escapechar": escape, "doublequote": False}
    yield dialect
    if not quote:
        yield {**dialect, "quoting": csv.QUOTE_NONE}
    yield {**dialect, "skipinitialspace": True}


def converters(dtype, missing):
    """Yields what may read a column: the name of a function and its arguments."""
    shared = {} if missing == [""] else {"missing": tuple(missing)}
    if dtype == "string":
        yield "_text", shared
    elif dtype == "int64":
        for thousands, _ in GROUPS:
            yield "_whole_numbers", {**shared, **({"thousands": thousands} if thousands else {})}
    elif dtype == "float64":
        for thousands, decimal in GROUPS:
            form = {"thousands": thousands} if thousands else {}
            yield "_numbers", {**shared, **form, **({"decimal": ","} if decimal == "," else {})}
    elif dtype == "bool":
        for yes in ("true", "yes", "y", "t", "on"):
            yield "_truths", {**shared, **({"yes": yes} if yes != "true" else {})}
    elif dtype == "time":
        yield "_times", shared
    else:
        plain, local = {"date": ("_days", "_local_days"), "timestamp": ("_moments", "_local_moments"),
                        "timestamp_utc": ("_instants", None)}[dtype]
        yield plain, shared
        for order in ("dmy", "mdy", "ymd") if local else ():
            yield local, {"order": order, **shared}


def fit_column(name, dtype, cells, expected):
    is_missing = expected.isna().tolist()
    missing = {cell for cell, it in zip(cells, is_missing) if it}
    if missing & {cell for cell, it in zip(cells, is_missing) if not it} or MARKERS_MAX < len(missing):
        raise Unfit(f"column `{name}` has cells that are empty text and cells that are empty")
    if not missing and "" not in cells:
        missing = {""}  # as everywhere
    for function, options in converters(dtype, sorted(missing)):
        try:
            found = globals()[function](cells, **options)
        except Exception:
            continue
        if found.dtype == expected.dtype and found.equals(expected):
            return [function, {key: repr(value) for key, value in options.items()}]
    raise Unfit(f"column `{name}` has an unusual format")


def fit(source):
    expected = load_dataset(source["name"])
    if source["is_parquet"]:
        if not _parquet_table(datasets[source["link"]]).equals(expected):
            raise Unfit("its types are different in the dataset")
        return {"opener": "_parquet_table"}
    names = list(expected.columns)
    extra = source["has_extra"]
    width = len(names) - extra
    path = datasets[source["link"]]
    with open(path, "rb") as file:
        begin = file.read(4)
    if begin == b"\x28\xb5\x2f\xfd":
        raise Unfit("it is compressed with zstd")
    is_packed = begin[:2] in (b"PK", b"\x1f\x8b", b"BZ")
    opener = "_unpacked_text_of" if is_packed else "_text_of"
    problem = Unfit("it has an unusual format")
    for codec in CODECS.get(source["encoding"].lower(), [source["encoding"].lower()]):
        for dialect in dialects(source):
            try:
                opened = globals()[opener](path, codec)
                first, skipped, head = split(source, opened, dialect, len(expected))
                options = {"width": width, "first": first}
                if head and len(set(head)) == len(head) == width:
                    options["header"] = head
                if skipped:
                    options["skip"] = set(skipped)
                if extra:
                    options["extra"] = True
                columns = _columns_of(globals()[opener](path, codec), **options, **dialect)
                parts = zip(names, source["dtypes"], columns)
                fits = [fit_column(name, dtype, cells, expected[name]) for name, dtype, cells in parts]
            except Unfit as error:
                problem = error
                continue
            except (LookupError, UnicodeError, csv.Error) as error:
                problem = Unfit(str(error))
                continue
            named = {key: repr(value) for key, value in {**options, **dialect}.items()}
            return {"opener": opener, "codec": codec, "options": named, "columns": fits}
    raise problem


def study(sources):
    found = []
    for source in sources:
        try:
            found.append(fit(source))
        except Unfit as error:
            found.append({"why": str(error)})
        except MemoryError:
            found.append({"why": "it is too large to be checked"})
    return found
