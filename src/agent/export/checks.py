class _Printed:
    """Prints, and keeps what was printed since it was last asked for."""

    def __init__(self, out):
        self.out, self.parts = out, []

    def write(self, text):
        self.parts.append(text)
        return self.out.write(text)

    def flush(self):
        self.out.flush()

    def take(self):
        text, self.parts = "".join(self.parts), []
        return text


def _attempt(code):
    """Runs a step that failed then; what it did before it failed counts."""
    try:
        exec(code, globals())
    except Exception as error:
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
        value = value.tolist() if isinstance(value, np.ndarray) else value
        return json.dumps(value, default=str, ensure_ascii=False, separators=(",", ":"))
    if value is None or value is pd.NaT or value is pd.NA or value != value:
        return None
    if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
        value = value.item()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        value = pd.Series([value])[0]
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _same(then, now):
    """Returns whether two values are the same; floats may differ in their last digits."""
    numbers = (int, float)
    if isinstance(then, numbers) and isinstance(now, numbers):
        return math.isclose(then, now, rel_tol=1e-9, abs_tol=1e-300)
    return then == now or isinstance(now, int) and then == str(now)


def _check_table(what, value, columns, rows, row_count, ordered=False, row_labels=False):
    """Fails unless a table is what it was then. Rows may come in any order unless that was asked for."""
    frame = _flat(value, row_labels)
    missing = [it for it in columns if it not in frame.columns]
    assert not missing, f"{what}: no column {', '.join(missing)} now"
    assert len(frame) == row_count, f"{what}: {row_count} rows then, {len(frame)} now"
    frame = frame[columns].head(len(rows))
    found = [tuple(map(_plain, row)) for row in frame.itertuples(index=False, name=None)]

    def key(row):
        return [f"{it:.9g}" if isinstance(it, (int, float)) else str(it) for it in row]

    if not ordered and len(rows) == row_count:
        rows, found = sorted(rows, key=key), sorted(found, key=key)
    elif not all(map(_same, sum(rows, ()), sum(found, ()))):
        # Rows that the order leaves open may have changed places.
        rows, found = _tied(rows), _tied(found)
    for then, now in zip(rows, found):
        assert all(map(_same, then, now)), f"{what}: {then} then, {now} now"


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
    def words(text):
        text = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", re.sub(r" at 0x[0-9a-fA-F]+", "", text))
        return [number(it) for it in text.split()]

    def number(word):
        try:
            return float(word.strip("()[]{},;:'\"%"))
        except ValueError:
            return word

    then, cut, _ = then.partition("\n… ")
    then, now = words(then), words(now)
    now = now[:len(then)] if cut else now
    for old, new in zip(then, now):
        assert _same(old, new), f"{what}: {old} then, {new} now"
    assert len(then) == len(now), f"{what}: {' '.join(map(str, then))} then, {' '.join(map(str, now))} now"
