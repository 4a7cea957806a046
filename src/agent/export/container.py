_HERE = {"place": "", "variables": {}, "directories": {"": os.getcwd()}}


def _enter(place, names):
    """Goes into a container, or back out of it. Each has variables and a directory of its own.

    What was there before the code, and begins with an underscore, is everywhere.
    """
    ours = _HERE.setdefault("ours", {it for it in names if it.startswith("_")})
    _HERE["variables"][_HERE["place"]] = {it: names.pop(it) for it in list(names) if it not in ours}
    _HERE["place"] = place
    names.update(_HERE["variables"].get(place, {"display": _show}))
    os.chdir(_directory(place))
    for option, width in ("display.width", 160), ("display.max_columns", 40), ("display.max_colwidth", 80):
        if place:
            pd.reset_option(option)
        else:
            pd.set_option(option, width)


def _directory(place):
    """Returns the directory of a container. At first it has the datasets; it goes with the process."""
    found = _HERE["directories"].get(place)
    if found is None:
        found = _HERE["directories"][place] = os.path.realpath(tempfile.mkdtemp())
        atexit.register(shutil.rmtree, found, ignore_errors=True)
        for name, frame in _TABLES.items():
            _write_csv(frame, os.path.join(found, f"{name}.csv"))
    return found


def _at(text):
    """Returns a text with the container's directory in the place of /mnt/data."""
    directory = _directory(_HERE["place"])
    return re.sub(r"/mnt/data(?![\w.-])", lambda _: directory, text)


def _show(*values):
    """Shows values as the container does: as text among what is printed."""
    for value in values:
        if value is not None:
            print(repr(value))


def _taken():
    """Returns what was printed since it was last asked for, without warnings."""
    text = sys.stdout.take().replace(_directory(_HERE["place"]), "/mnt/data")
    return re.sub(r"(?m)^\w+Warning: .*\n", "", text)


def _saved(name, columns):
    """Returns a table that the code has saved; columns are text unless something else reads them."""
    cells = pd.read_csv(_at(f"/mnt/data/{name}.csv"), dtype=str, keep_default_na=False)
    nameless = str(cells.columns[0]).startswith("Unnamed: ") and len(columns) == len(cells.columns)
    cells = cells.set_axis(list(columns), axis=1) if nameless else cells
    return pd.DataFrame({it: (columns.get(it) or _text)(cells[it].tolist()) for it in cells})


def _write_csv(frame, path):
    """Writes a dataset with the text that was uploaded."""
    alone = '""' if frame.shape[1] == 1 else ""
    columns = [[it or alone for it in _csv_cells(frame[name].tolist())] for name in frame]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(map(_csv_text, frame.columns)) + "\n")
        file.writelines(",".join(row) + "\n" for row in zip(*columns))


def _csv_cells(values):
    """Returns the values of a column as CSV; those of a day and a time have as many digits as they all need."""
    micros = [getattr(it, "microsecond", 0) for it in values if it is not pd.NaT]
    digits = "microseconds" if any(it % 1_000 for it in micros) else "milliseconds" if any(micros) else "seconds"

    def cell(value):
        if value is None or value is pd.NA or value is pd.NaT or value != value:
            return ""
        if isinstance(value, (bool, str)):
            return _csv_text(value) if isinstance(value, str) else str(value).lower()
        if isinstance(value, (datetime.datetime, datetime.time)):
            return value.isoformat(timespec=digits).replace("+00:00", "Z")
        text = str(value)
        return text.replace("e", ".0e") if isinstance(value, float) and "e" in text and "." not in text else text

    return list(map(cell, values))


def _csv_text(text):
    quoted = not text or text[0] == "\ufeff" or any(it in text for it in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text
