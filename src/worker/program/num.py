"""Numbers as people write them: `num`, which the code finds beside `pd` and `load`.

Scripts that csv-agent exports contain the blocks below as well, without this head. Two blank lines end a
block, and each block defines one name.
"""

import re

import pandas as pd


# Words and letters for powers of ten: `2 million`, `$584M`.
_POWERS = {
    "k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "b": 9, "bn": 9, "billion": 9, "t": 12, "tn": 12, "trillion": 12
}


# A number as people write it, in any case. GROUP is the separator of thousands, MARK the decimal mark.
_NUMBER_FORM = (
    r"(?P<open>\()?\s*(?P<sign>[-+])?\s*(?P<before>[a-z]{0,3}[$€£¥₹₩]|(?:usd|eur|gbp|chf|jpy|cad|aud|inr|cny)\b)?\s*"
    r"(?P<inner>[-+])?\s*(?P<whole>\d{1,3}(?:GROUP\d{3})+|\d*)(?:MARK(?P<part>\d*))?(?:e(?P<power>[-+]?\d{1,3}))?\s*"
    r"(?P<unit>thousand|million|billion|trillion|mn|bn|tn|[kmbt])?\s*"
    r"(?:%|percent|(?P<after>[$€£¥₹₩]|(?:usd|eur|gbp|chf|jpy|cad|aud|inr|cny)))?\s*(?P<close>\))?"
)


def _number_of(text, decimal):
    """Returns the number that a text means, as an int if it is whole; None if the text is not a number."""
    group, mark = (r"[,\s'’]", r"\.") if decimal == "." else (r"[.\s'’]", ",")
    form = _NUMBER_FORM.replace("GROUP", group).replace("MARK", mark)
    found = re.fullmatch(form, text.strip().replace("−", "-"), re.IGNORECASE)
    if found is None or not (found["whole"] or found["part"]):
        return None
    if (found["open"] is None) != (found["close"] is None) or (found["sign"] and found["inner"]):
        return None
    is_negative = found["open"] is not None or "-" in (found["sign"], found["inner"])
    if found["open"] is not None and (found["sign"] or found["inner"]):
        return None
    unit = found["unit"] or ""
    # A small letter may mean metres, tonnes or minutes: `5m`, `3t`. `5M` and `£5m` are millions.
    is_money = found["before"] or found["after"]
    if len(unit) == 1 and not is_money and unit not in ("K", "M", "B"):
        return None
    whole = re.sub(r"\D", "", found["whole"])
    part = (found["part"] or "").rstrip("0")
    power = int(found["power"] or 0) + _POWERS.get(unit.lower(), 0)
    if 300 < len(whole) + power:  # more than a float holds
        return None
    if len(part) <= power:
        number = int(whole + part or "0") * 10 ** (power - len(part))
    else:
        number = float(f"{whole or 0}.{part or 0}e{power}")
    return -number if is_negative else number


def num(values, decimal="."):
    """Return text as numbers, as people write them: "1,234", "$584M", "32%" (32), "(1.2)" (-1.2), "1.5 million", "3K".

    What is not a number is missing in the result and reported. Blank cells are missing. `decimal=","` reads "1.234,5".
    """
    series = values if isinstance(values, pd.Series) else pd.Series(values)
    if pd.api.types.is_numeric_dtype(series):
        return series
    numbers, others = [], {}
    for value in series:
        if value is None or value is pd.NA or value != value or not str(value).strip():
            numbers.append(None)
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        number = value if is_number else _number_of(str(value), decimal)
        if number is None:
            others[str(value)] = others.get(str(value), 0) + 1
        numbers.append(number)
    if others:
        listed = sorted(others.items(), key=lambda it: -it[1])
        shown = ", ".join(f"{text[:40]!r} ({n})" for text, n in listed[:5])
        more = f" and {len(listed) - 5} others" if 5 < len(listed) else ""
        n_others = sum(others.values())
        print(f"num: {n_others} of {len(series)} values are not numbers and are missing now: {shown}{more}")
    is_whole = all(it is None or isinstance(it, int) and abs(it) < 1 << 63 for it in numbers)
    dtype = "Int64" if is_whole else "float64"
    return pd.Series(numbers, index=series.index, name=series.name, dtype=dtype)
