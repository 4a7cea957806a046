#!/usr/bin/env python3
"""Measures how often ingest finds out the encoding of a small file.

    benches/charsets.py path/to/csv-agent [path/to/another]

Files of 1 to 200 words beyond ASCII, 20 of each kind: names of countries, languages and currencies in their own
language, from the CLDR (Babel), in the encodings that such files have. Right is a file whose text comes out as it was
written, whatever the encoding is called. Percentages, those of the second program behind the first.
"""

import json
import random
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from ingest import CACHE

COUNTS = [1, 2, 3, 5, 10, 20, 50, 200]
FILES = 20
WEST = ["ca", "da", "de", "es", "fi", "fo", "fr", "is", "it", "nb", "nl", "pt", "sq", "sv"]
KINDS = {
    "Western, windows-1252": [("cp1252", [it]) for it in WEST],
    "Western, languages mixed": [("cp1252", WEST)],
    "Western, Macintosh": [("mac-roman", [it]) for it in ["da", "de", "es", "fr", "it", "pt"]],
    "Western, DOS": [("cp850", [it]) for it in ["da", "de", "es", "fr", "pt", "sv"]],
    "Polish": [("cp1250", ["pl"]), ("iso8859-2", ["pl"])],
    "Czech, Slovak": [("cp1250", ["cs"]), ("iso8859-2", ["cs"]), ("cp1250", ["sk"])],
    "Hungarian": [("cp1250", ["hu"]), ("iso8859-2", ["hu"])],
    "Romanian": [("cp1250", ["ro"]), ("iso8859-2", ["ro"])],
    "Croatian, Slovenian": [("cp1250", ["hr"]), ("cp1250", ["sl"])],
    "Turkish": [("cp1254", ["tr"])],
    "Baltic": [("cp1257", ["lt"]), ("cp1257", ["lv"]), ("cp1257", ["et"])],
    "Cyrillic": [("cp1251", ["ru"]), ("koi8-r", ["ru"]), ("cp1251", ["uk"]), ("cp1251", ["bg"])],
    "Greek": [("cp1253", ["el"])],
    "Hebrew, Arabic, Thai": [("cp1255", ["he"]), ("cp1256", ["ar"]), ("cp874", ["th"])],
    "Japanese": [("shift_jis", ["ja"]), ("euc_jp", ["ja"])],
    "Chinese, Korean": [("gbk", ["zh"]), ("big5", ["zh_Hant"]), ("euc_kr", ["ko"])],
    "half UTF-8, half windows-1252": [("joined", WEST)],
}
CODECS = {"macintosh": "mac-roman", "windows-874": "cp874", "shift_jis": "cp932", "gbk": "gb18030", "euc-kr": "cp949"}
WORDS = r"""
import json, sys
from babel import Locale
found = {}
for language in sys.argv[1:]:
    locale = Locale.parse(language)
    words = {it for names in (locale.territories, locale.languages, locale.currencies) for it in names.values()}
    found[language] = sorted(it for it in words if not it.isascii() and not set(it) & set(',"'))
json.dump(found, sys.stdout)
"""
CEDILLAS = str.maketrans("șțȘȚ\u202f\xa0", "şţŞŢ  ")


def words_of(languages):
    python = CACHE / "babel" / "bin" / "python"
    if not python.exists():
        venv.create(CACHE / "babel", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "babel==2.17.0"], check=True)
    shown = subprocess.run([python, "-c", WORDS, *languages], check=True, stdout=subprocess.PIPE).stdout
    return {language: [it.translate(CEDILLAS) for it in words] for language, words in json.loads(shown).items()}


def encoded(word, codec):
    try:
        found = word.encode(codec)
    except UnicodeEncodeError:
        return None
    return None if found.isascii() else found


def make(dir, words, codec, languages, n_words, chance):
    """Writes a file and returns its text."""
    picked = []
    while len(picked) < n_words:
        word = chance.choice(words[chance.choice(languages)])
        is_utf8 = codec == "joined" and len(picked) % 2 == 0
        found = encoded(word, "utf-8" if is_utf8 else "cp1252" if codec == "joined" else codec)
        if found:
            picked.append((word, found))
    path = dir / f"f{len(list(dir.iterdir()))}.csv"
    path.write_bytes(b"id,name\n" + b"".join(b"%d,%s\n" % (n, it[1]) for n, it in enumerate(picked)))
    return path, "id,name\n" + "".join(f"{n},{it[0]}\n" for n, it in enumerate(picked))


def text_of(path, encoding):
    data = path.read_bytes()
    if encoding != "utf-8+windows-1252":
        return data.decode(CODECS.get(encoding, encoding), errors="replace")
    lines = []
    for line in data.split(b"\n"):
        try:
            lines.append(line.decode())
        except UnicodeDecodeError:
            lines.append(line.decode("windows-1252"))
    return "\n".join(lines)


def rights(csv_agent, files):
    paths = [str(it[0]) for it in files]
    command = [csv_agent, "ingest", "-q", "--dry-run", "--json", *paths]
    shown = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    documents = [json.loads(it) for it in shown.splitlines()]
    documents = documents[0] if documents and isinstance(documents[0], list) else documents
    encodings = {it["source"]: it["dialect"]["encoding"] for it in documents}
    return sum(str(path) in encodings and text_of(path, encodings[str(path)]) == text for path, text in files)


def main():
    programs = sys.argv[1:]
    words = words_of(sorted({it for kinds in KINDS.values() for _, languages in kinds for it in languages}))
    print("| words beyond ASCII | " + " | ".join(map(str, COUNTS)) + " |\n|---|" + "--:|" * len(COUNTS))
    for name, kinds in KINDS.items():
        cells = []
        for n_words in COUNTS:
            if name.startswith("half") and n_words < 2:
                cells.append("")
                continue
            with tempfile.TemporaryDirectory(dir=CACHE) as dir:
                chance = random.Random(n_words)
                files = [
                    make(Path(dir), words, codec, languages, n_words, chance)
                    for codec, languages in kinds
                    for _ in range(FILES)
                ]
                cells.append(" / ".join(f"{100 * rights(it, files) // len(files)}" for it in programs))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
