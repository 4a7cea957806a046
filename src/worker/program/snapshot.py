"""Variables between processes: a snapshot is saved at the end of a turn and restored in the next.

A snapshot is a directory. `manifest.json` says how each variable is kept; the files beside it hold frames
and pickles. A file is named after its content, so that an unchanged value is not written again. A variable
is restored when code mentions its name, so that a session with large frames starts at once.
"""

from hashlib import sha256
from importlib import import_module
from math import isfinite
from os import lstat
from pickle import Pickler, Unpickler
from types import FunctionType, ModuleType
from zlib import crc32

import pyarrow as pa
from pandas import DataFrame, Series
from pandas.api.types import infer_dtype
from pyarrow.parquet import read_table, write_table

NAMES_MAX = 10_000
PICKLE_BYTES_MAX = 32 * 1024 * 1024


def mention(code):
    """Notes which variables the code mentions, and restores those of an earlier process."""
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
    """Restores variables, after those that their definitions mention."""
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
    """Reads the manifest of the last process. A missing or damaged file becomes a note, not an error."""
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
    """Returns whether the file of an entry is in the snapshot, with as many bytes as were written."""
    try:
        n_bytes = lstat(f"{start['saved']}/{entry['file']}").st_size
    except OSError:
        return False
    return is_plain_name(entry["file"]) and n_bytes == entry["bytes"]


class Unkept(Exception):
    """A variable that a snapshot cannot hold, with the reason."""


def save(request):
    """Writes a snapshot to scratch, except for files that the last snapshot has."""
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
    """A file in memory for a pickle, of at most PICKLE_BYTES_MAX."""

    def __init__(self):
        self.parts, self.n_bytes = [], 0

    def write(self, part):
        part = memoryview(part)  # large arrays come as buffers, which have no length
        self.n_bytes += part.nbytes
        if PICKLE_BYTES_MAX < self.n_bytes:
            raise Unkept(f"larger than {PICKLE_BYTES_MAX >> 20} MB, and not a table that "
                         "Parquet can hold")
        self.parts.append(bytes(part))


def keep_frame(value, here, have):
    """Returns the entry of a frame, or None if Parquet would not give it back unchanged."""
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
    # Parquet keeps only those categories of a column that a row has.
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
    """Returns the entry of a frame of the cluster: its plan, not its rows."""
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
