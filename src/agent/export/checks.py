class _Printed:
    """Prints, and keeps what was printed since it was last asked for. Warnings are printed, too."""

    def __init__(self, out):
        self.out, self.parts = out, []

    def __getattr__(self, name):
        return getattr(self.out, name)

    def write(self, text):
        self.parts.append(text)
        return self.out.write(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def warn(self, message, category, *_place, **_more):
        self.write(f"{category.__name__}: {message}\n")

    def take(self):
        text, self.parts = "".join(self.parts), []
        return text


def _attempt(code, names):
    """Runs a step that failed then; what it did before it failed counts."""
    try:
        exec(code, names)
    except (Exception, SystemExit) as error:
        print(f"failed, as then: {error!r}")


def _flat(value, row_labels=False):
    """Returns a frame with plain column names, whose index has become columns if it says something."""
    frame = value if isinstance(value, pd.DataFrame) else value.to_frame(
        "value" if value.name is None else value.name)
    frame = frame.set_axis(_unique([_column_text(it) for it in frame.columns]), axis=1)
    index = frame.index
    if index.nlevels == 1 and index.name is None:
        if isinstance(index, pd.RangeIndex) or not row_labels and index.dtype.kind in "iu":
            return frame.reset_index(drop=True)
    names = [_column_text(it) if it is not None else "index" if index.nlevels == 1 else f"level_{at}"
             for at, it in enumerate(index.names)]
    frame = frame.reset_index(names=names, allow_duplicates=True)
    return frame.set_axis(_unique(list(frame.columns)), axis=1)


def _column_text(name):
    if isinstance(name, tuple):
        return "_".join(part for part in map(_column_text, name) if part)
    return name if isinstance(name, str) else str(_plain(name))


def _unique(names):
    """Returns the names, the second `a` as `a_2`."""
    found = []
    for name in names:
        candidate, n = name, 2
        while candidate in found or candidate != name and candidate in names:
            candidate, n = f"{name}_{n}", n + 1
        found.append(candidate)
    return found


def _plain(value):
    """Returns a value as the answer has it: text, a number, true or false, or nothing."""
    if isinstance(value, (list, tuple, dict, np.ndarray)):
        return _cut(json.dumps(_nested(value, 4), ensure_ascii=False, separators=(",", ":")))
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return None
    if isinstance(value, np.floating):
        value = float(str(value))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        value = pd.Series([value])[0]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, datetime.timedelta):
        value = pd.Timedelta(value)
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (bytes, bytearray)):
        return _cut(base64.b64encode(value).decode())
    return _cut(value.isoformat() if hasattr(value, "isoformat") else str(value))


def _cells(series):
    # 0.1 stays 0.1 when it is a float32: as a list it would be a float of its own.
    is_small = isinstance(series.dtype, np.dtype) and series.dtype.kind == "f" and series.dtype != "float64"
    return [_plain(it) for it in (series.to_numpy() if is_small else series.tolist())]


def _nested(value, depth):
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if depth and isinstance(value, (list, tuple)):
        return [_nested(it, depth - 1) for it in value]
    if depth and isinstance(value, dict):
        return {str(key): _nested(it, depth - 1) for key, it in value.items()}
    return "…" if isinstance(value, (list, tuple, dict)) else _plain(value)


def _cut(text):
    return text if len(text) <= 32_768 else text[:32_767] + "…"


def _same(then, now):
    """Returns whether two values are the same. Floats may differ in their last digits."""
    numbers = isinstance(then, (int, float)) and isinstance(now, (int, float))
    if numbers and (isinstance(then, float) or isinstance(now, float)):
        return math.isclose(then, now, rel_tol=1e-9, abs_tol=1e-300)
    # NaN of SQL is a missing value in pandas.
    return then == now or isinstance(now, int) and then == str(now) or then == "NaN" and now is None


def _check_table(what, value, columns, rows, row_count, ordered=False, row_labels=False):
    """Fails unless a table is what it was then. Rows may come in any order unless that was asked for."""
    frame = _flat(value, row_labels)
    missing = [it for it in columns if it not in frame.columns]
    _expect(not missing, f"{what}: no column {', '.join(missing)} now")
    _expect(len(frame) == row_count, f"{what}: {row_count} rows then, {len(frame)} now")
    frame = frame[columns].head(len(rows))
    found = list(zip(*[_cells(frame[it]) for it in columns]))
    infinite = ("inf", "-inf")
    if not any(it in infinite for row in rows for it in row):
        # A table that was sent has null for an infinite number.
        found = [tuple(None if it in infinite else it for it in row) for row in found]

    def key(row):
        return [f"{it:.9g}" if isinstance(it, float) else str(it) for it in row]

    if not ordered and len(rows) == row_count:
        rows, found = sorted(rows, key=key), sorted(found, key=key)
    elif not all(map(_same, sum(rows, ()), sum(found, ()))):
        # Rows that the order leaves open may have changed places.
        rows, found = _tied(rows), _tied(found)
    for then, now in zip(rows, found):
        _expect(all(map(_same, then, now)), f"{what}: {then} then, {now} now")


def _expect(holds, message):
    """Fails with a message. An `assert` would do nothing under `python -O`."""
    if not holds:
        raise AssertionError(message)


def _tied(rows):
    """Returns rows that are sorted by a column with those of the same value in an order of their own."""
    for at in range(len(rows[0]) if rows else 0):
        column = [row[at] for row in rows]
        if all(isinstance(it, (int, float)) for it in column) and column[0] != column[-1]:
            falls = column[-1] < column[0]
            if column == sorted(column, reverse=falls):
                return sorted(rows, key=lambda row: (-row[at] if falls else row[at], str(row)))
    return rows


def _check_text(what, then, now):
    """Fails unless a text is what it was then. Blanks do not count, numbers are compared as numbers."""
    then, cut, _ = then.partition("\n… ")
    then, now = _words(then), _words(now)
    if cut:  # the end was not kept, and the last word only in part
        then = then[:-1]
        now = now[:len(then)]
    for old, new in zip(then, now):
        _expect(_same(old, new), f"{what}: {old} then, {new} now")
    _expect(len(then) == len(now), f"{what}: {len(then)} words then, {len(now)} now")


def _words(text):
    """Returns the words of a text, those with a fraction as numbers."""
    text = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", re.sub(r" at 0x[0-9a-fA-F]+", "", text))
    words = " ".join(it for it in text.splitlines() if not it.startswith("memory usage:")).split()
    bare = [it.strip("()[]{},;:'\"%") for it in words]
    is_float = [re.fullmatch(r"[-+]?\d*\.?\d+([eE][-+]?\d+)?", it) and not it.isdigit() for it in bare]
    return [float(number) if it else word for word, number, it in zip(words, bare, is_float)]


def _apart():
    """Gives the functions above names of their own: the code below may take any."""
    own = dict(globals())
    for name, it in list(own.items()):
        if isinstance(it, types.FunctionType):
            own[name] = types.FunctionType(it.__code__, own, name, it.__defaults__, it.__closure__)
    globals().update(own)
