"""Outputs: what a call shows, and where the rest is when a value is too long to be shown.

The whole of a long value is kept in the variable `data`. When all frames together are over the limit, those
that code has not mentioned for longest are dropped.
"""

import io
import re
import sys
from hashlib import sha256

import numpy as np
from pandas import DataFrame, Series

STORED_MAX = 100
PRINTED_CHARS_MAX = 4 * 1024 * 1024
PLAIN = (str, bytes, list, tuple, dict, set, frozenset, np.ndarray)

is_key = re.compile(r"[a-z_]+_[0-9a-f]{8}").fullmatch


def show(value):
    """Returns the last expression of the code as a notebook would show it."""
    if value is None:
        return {"kind": "none"}
    if is_frame(value):
        return show_frame(value)
    if is_lazy(value):
        return show_lazy(value)
    text = same_every_time(repr(value))
    content = encode(text)
    if len(content) <= start["text_bytes"]:
        return {"kind": "text", "text": text}
    kept = value if type(value) in PLAIN else cut_end(text, PRINTED_CHARS_MAX)
    key, place = put_aside("python_repl", kept, content)
    return {"kind": "text", "text": cut_middle(text, start["text_bytes"], place), "data_key": key}


def put_aside(tool, value, content):
    """Puts a value into the variable `data`. Returns its key, and how code reaches it.

    The key is a hash of the content, so that a key that the model has read never means another value.
    """
    # A variable `data` of the code is left alone.
    for name in ("data", "stored_data"):
        if name in state.pending:
            restore({name})
        if is_store(namespace.setdefault(name, {})):
            break
    else:
        namespace[name] = {}
    state.store = store = namespace[name]
    key = f"{tool}_{sha256(content).hexdigest()[:8]}"
    store[key] = value
    while STORED_MAX < len(store):
        oldest = next(iter(store))
        del store[oldest]
        state.notes.append(f'{name}["{oldest}"] was dropped: {STORED_MAX} outputs are kept')
    return key, f'{name}["{key}"]'


def is_store(value):
    """Returns whether a value is the dictionary of long outputs, or one of an earlier process."""
    return value is state.store or type(value) is dict and all(
        type(it) is str and is_key(it) for it in value)


def put_printed_aside(result):
    """Puts the text that the call printed aside if it is too long to be shown whole."""
    text = same_every_time("".join(state.printed))
    state.printed, state.printed_chars = [], 0
    room = min(start["text_bytes"], start["output_bytes"] - len(encode(result)) - 64)
    # A text far below the limit is not encoded to find out.
    if len(text) * 4 <= room or len(encode(text)) <= room:
        return
    result["stdout_key"], result["stdout_place"] = put_aside("python_repl", text, encode(text))


def keep_aside(request):
    """Puts aside the table or text that another tool found."""
    rows = request["rows"]
    value = request["text"] if rows is None else DataFrame(rows)
    key, place = put_aside(request["tool"], value, encode([rows, request["text"]]))
    return {"result": {"kind": "kept", "data_key": key, "place": place}}


def frames():
    """Returns the names of all frames, including those that are not restored yet."""
    here = [name for name, it in namespace.items() if is_frame(it) and not name.startswith("__")]
    return here + [name for name, it in state.pending.items() if it["kind"] in ("frame", "series")]


def frame_bytes(value):
    """Returns about how many bytes of memory a frame takes; a small frame counts as 0."""
    if value.size < 100_000:
        return 0
    usage = value.memory_usage(index=True, deep=False)
    n_bytes = int(usage if issubclass(type(value), Series) else usage.sum())
    frame = as_frame(value)
    for at, dtype in enumerate(frame.dtypes):
        if dtype == object:  # only the pointer was counted, 8 bytes
            column = frame.iloc[:, at]
            sample = column.iloc[:: max(1, len(column) // 200)]
            n_bytes += len(column) * sum(map(sys.getsizeof, sample)) // max(1, len(sample))
    return n_bytes


def prune():
    """Drops the frames that were not mentioned for longest until all frames together are within the limit.

    Frames that the call itself mentions stay: the model works on them.
    """
    sizes = {}  # by identity: two names of one frame count once
    names = {}
    for name in frames():
        if name in namespace:
            value = namespace[name]
            sizes[id(value)] = sizes.get(id(value)) or frame_bytes(value)
            names.setdefault(id(value), []).append(name)
    total = sum(sizes.values())
    if total <= start["frames_bytes"]:
        return
    last_use = {key: max(state.used.get(name, 0) for name in names[key]) for key in names}
    for key in sorted(names, key=last_use.get):
        if total <= start["frames_bytes"] or last_use[key] == state.calls:
            break
        if sizes[key] == 0:
            continue
        total -= sizes[key]
        for name in names[key]:
            del namespace[name]
        listed = ", ".join(f"`{name}`" for name in names[key])
        state.notes.append(f"{listed} ({sizes[key] >> 20} MB) was dropped: the frames were over "
                           f"{start['frames_bytes'] >> 20} MB together; load it again if needed")


class Output(io.TextIOWrapper):
    """The file that code prints to. It also keeps the text, in case it is too long to be shown."""

    def write(self, text):
        if state.printed_chars < PRINTED_CHARS_MAX:
            part = text[: PRINTED_CHARS_MAX - state.printed_chars]
            state.printed_chars += len(part)
            state.printed.append(part)
        return super().write(text)


def new_output():
    raw = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
    return Output(raw, "utf-8", errors="backslashreplace")
