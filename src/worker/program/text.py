"""Text and JSON: what the worker sends is cut to its limits and the same in every run.

A value becomes a cell by the rules of `frame.rs`. A value that JSON cannot hold becomes text or is missing.
"""

import re
from base64 import b64encode
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from json import JSONDecoder
from json.encoder import c_make_encoder, encode_basestring
from math import isfinite

import numpy as np
from pandas import NA, NaT, Timedelta, Timestamp

INT_MAX = 2**53 - 1
MESSAGE_CHARS_MAX = 4_000

encode_parts = c_make_encoder(None, str, encode_basestring, None, ":", ",", False, False, False)
decode_at = JSONDecoder().scan_once
words_of = re.compile(r"[^\W\d]\w*").findall
without_addresses = re.compile(r" at 0x[0-9a-fA-F]+").sub
is_plain_name = re.compile(r"[\w.-]+").fullmatch


def encode(value):
    """Returns JSON as bytes. Half surrogates, which UTF-8 cannot hold, become question marks."""
    return "".join(encode_parts(value, 0)).encode("utf-8", "replace")


def same_every_time(text):
    """Returns text without memory addresses: a replay must get the text that was recorded."""
    return without_addresses("", text)


def cut_end(text, n_chars):
    """Returns text of at most `n_chars`; an ellipsis takes the place of the rest."""
    return text if len(text) <= n_chars else text[: max(n_chars - 1, 0)] + "…"


def cut_middle(text, n_bytes, place=None):
    """Returns text whose JSON has at most `n_bytes`. A line in the middle counts the characters left out.

    `place` is the expression by which code reads the whole text.
    """
    whole = f"; the full text is {place}" if place else ""
    n_chars = min(len(text), n_bytes)
    while True:
        shown = text
        if n_chars < len(text):
            head = n_chars * 2 // 3
            tail = len(text) - (n_chars - head)
            shown = f"{text[:head]}\n… {tail - head} characters cut{whole} …\n{text[tail:]}"
        if len(encode(shown)) <= n_bytes or n_chars == 0:
            return shown
        n_chars = n_chars * 4 // 5


def float_cell(value):
    """Returns a float as JSON, which has no infinity: `inf` or `-inf`. NaN is a missing value in pandas."""
    return value if isfinite(value) else None if value != value else str(value)


def cell(value, n_chars):
    """Returns one value as JSON."""
    kind = type(value)
    if kind is str:
        return cut_end(value, n_chars)
    if value is None or value is NA or value is NaT:
        return None
    if kind is bool:
        return value
    if kind is int:
        return value if -INT_MAX <= value <= INT_MAX else str(value)
    if kind is float:
        return float_cell(value)
    if isinstance(value, (np.datetime64, Timestamp, datetime)):
        instant = Timestamp(value) if kind is np.datetime64 else value
        return None if instant is NaT else instant.isoformat()
    if isinstance(value, (np.timedelta64, timedelta)):
        return None if Timedelta(value) is NaT else Timedelta(value).isoformat()
    if isinstance(value, (np.bool_, np.integer)):
        return cell(value.item(), n_chars)
    if isinstance(value, np.floating):
        return cell(float(str(value)), n_chars)  # 0.1 stays 0.1 when it is a float32
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return cut_end(b64encode(value).decode(), n_chars)
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else float_cell(float(value))
    if isinstance(value, (list, tuple, dict, np.ndarray)):
        return cut_end(encode(nested(value, 4)).decode(), n_chars)
    return cut_end(same_every_time(str(value)), n_chars)


def nested(value, depth):
    """Returns a list or mapping within a cell as JSON; deeper than `depth`, `…` replaces it."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if depth and isinstance(value, (list, tuple)):
        return [nested(it, depth - 1) for it in value]
    if depth and isinstance(value, dict):
        return {str(key): nested(it, depth - 1) for key, it in value.items()}
    return cell(value, 1024) if not isinstance(value, (list, tuple, dict)) else "…"


def cells(series, n_chars):
    """Returns a column as JSON values. The usual types need no check of each value's type."""
    kind = series.dtype.kind if isinstance(series.dtype, np.dtype) else ""
    if kind == "b":
        return series.tolist()
    if kind in ("i", "u"):
        return [it if -INT_MAX <= it <= INT_MAX else str(it) for it in series.tolist()]
    if series.dtype == np.float64:
        return [it if isfinite(it) else float_cell(it) for it in series.tolist()]
    if kind == "f":
        return [cell(it, n_chars) for it in series.to_numpy()]
    # A float may be a missing string here, or a value of a column of mixed objects: `cell` handles both.
    return [cell(it, n_chars) for it in series.tolist()]
