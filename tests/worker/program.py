"""Tests the files of `src/worker/program` one by one, in a process that has no worker.

    tests/worker/program.py src/worker/program FILE...

The files come in the order in which they are joined. Each runs in the namespace that those before it
have filled; what would change this process has a stand-in.
"""

import ast
import builtins
import json
import os
import pathlib
import signal
import symtable
import sys
import tempfile
import unittest
import warnings
from datetime import date, timedelta
from decimal import Decimal
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa

SOURCES, *FILES = sys.argv[1:]
TEXTS = {file: pathlib.Path(SOURCES, file).read_text() for file in FILES}
# `state.py` has stand-ins for these, and `main.py` sets them.
SET_BY_MAIN = {"BUILTINS_AT_START", "MODULES", "MODULES_AT_START", "PRELOADED", "cluster", "namespace", "output"}
FOLDER_OF_TESTS = tempfile.TemporaryDirectory()
unittest.addModuleCleanup(FOLDER_OF_TESTS.cleanup)


class Ended(BaseException):
    """Stands for the end of the process."""


def end(_status):
    raise Ended


class Program:
    """The first files of the program, up to one of them, in one namespace."""

    def __init__(self, last="protocol.py", **settings):
        self.calls = []  # the functions of `os` that were called, with their arguments
        self.incoming, self.written = [], {}  # parts of requests; descriptor → bytes
        # The path has no links: the program compares others with it.
        self.scratch = os.path.realpath(tempfile.mkdtemp(dir=FOLDER_OF_TESTS.name))
        start = {
            "id": "start", "scratch": self.scratch, "packages": "pandas", "datasets": {}, "container": None, "results": None,
            "saved": None, "cluster": None, "processes": None, "tasks": 64, "memory_bytes": 1 << 30,
            "file_bytes": 1 << 30, "frames_bytes": 1 << 30, "output_bytes": 32_768, "result_bytes": 20_480,
            "text_bytes": 4_096, "line_bytes": 1 << 20,
        }
        self.names = {"start": start | settings, "__name__": "worker"}
        self.defined = {}
        for file in FILES[: FILES.index(last) + 1]:
            before = set(self.names)
            self.add(file)
            self.defined[file] = set(self.names) - before

    def __getattr__(self, name):
        return self.names[name]

    def add(self, file):
        def stand_in(name):
            return lambda *args, **options: self.calls.append((name, *args))

        functions = {it: stand_in(it) for it in ("dup2", "closerange", "chdir", "umask")}
        functions |= {"read": self.take, "write": self.keep_written, "_exit": end}
        with mock.patch.multiple("os", **functions), mock.patch.object(sys, "path", sys.path[:]):
            exec(compile(TEXTS[file], file, "exec"), self.names)

    def take(self, _number, _n_bytes):
        return self.incoming.pop(0) if self.incoming else b""

    def keep_written(self, number, content):
        self.written[number] = self.written.get(number, b"") + content
        return len(content)


class Names(unittest.TestCase):
    """What the files define, and what they need of each other."""

    def facts(self, file):
        """Returns the names that a file defines, imports and uses, in functions too."""
        top = symtable.symtable(TEXTS[file], file, "exec")
        symbols = top.get_symbols()
        imported = {it.get_name() for it in symbols if it.is_imported()}
        defined = {it.get_name() for it in symbols if it.is_assigned()} - imported
        used = {it.get_name() for it in symbols if it.is_referenced()}
        tables = top.get_children()
        while tables:
            table = tables.pop()
            used |= {it.get_name() for it in table.get_symbols() if it.is_global() and it.is_referenced()}
            tables += table.get_children()
        return defined, imported, used

    def test_a_file_uses_names_of_the_files_before_it_and_its_own_imports(self):
        known = {*dir(builtins), "start"}
        for file in FILES:
            defined, imported, used = self.facts(file)
            known |= defined
            self.assertEqual(used - known - imported, set(), file)
            self.assertEqual(imported - used, set(), f"{file} imports it and does not use it")

    def test_a_name_is_defined_in_one_file(self):
        where = {}
        for file in FILES:
            defined, imported, _ = self.facts(file)
            for name in defined - (SET_BY_MAIN if file == "main.py" else set()):
                self.assertNotIn(name, where, f"{file} takes the place of it")
                where[name] = file
            for name in imported:
                self.assertNotIn(name, SET_BY_MAIN)
        for name, origin in self.imports().items():
            self.assertNotIn(name, where)
            self.assertEqual(len(origin), 1, f"`{name}` stands for {origin}")

    def imports(self):
        """Returns name → what it stands for, over all files: they share one namespace."""
        found = {}
        for text in TEXTS.values():
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    for it in node.names:
                        origin = (getattr(node, "module", None), it.name)
                        found.setdefault(it.asname or it.name, set()).add(origin)
        return found

    def test_each_file_says_what_it_is_for(self):
        for file, text in TEXTS.items():
            self.assertGreater(len(ast.get_docstring(ast.parse(text)) or ""), 40, file)

    def test_each_file_loads_after_those_before_it(self):
        defined = Program(FILES[-2]).defined
        self.assertEqual(list(defined), FILES[:-1])
        for file, names in defined.items():
            self.assertNotEqual(names, set(), file)


class StartUp(unittest.TestCase):
    def test_the_protocol_moves_before_code_may_write_to_its_numbers(self):
        calls = Program("start_up.py").calls
        moved = [it[1:3] for it in calls if it[0] == "dup2"]
        self.assertEqual(moved[:3], [(0, 200), (1, 201), (2, 202)])
        self.assertEqual(moved[-3:], [(203, 0), (202, 1), (202, 2)])
        self.assertEqual([it[1:] for it in calls if it[0] == "closerange"], [(3, 200), (204, 65_536)])

    def test_the_stream_to_a_cluster_moves_and_stays_open(self):
        calls = Program("start_up.py", cluster={"datasets": {}}).calls
        self.assertIn(("dup2", 3, 204), calls)
        self.assertEqual([it[1:] for it in calls if it[0] == "closerange"], [(3, 200), (205, 65_536)])


class Num(unittest.TestCase):
    def test_numbers_as_people_write_them(self):
        number_of = Program("num.py")._number_of
        for text, decimal, expected in [
            ("1,234", ".", 1234), ("$584M", ".", 584_000_000), ("32%", ".", 32), ("(1.2)", ".", -1.2),
            ("1.5 million", ".", 1_500_000), ("3K", ".", 3000), ("-7", ".", -7), ("−7", ".", -7),
            ("1.234,5", ",", 1234.5), ("£5m", ".", 5_000_000), ("1e3", ".", 1000), ("0.1", ".", 0.1),
        ]:
            self.assertEqual(number_of(text, decimal), expected, text)
        for text in ["", "5m", "3t", "1,23", "(1", "--1", "n/a", "12 apples", "1e999", "."]:
            self.assertIsNone(number_of(text, "."), text)

    def test_whole_numbers_stay_whole_beside_missing_ones(self):
        found = Program("num.py").num(pd.Series(["1,000", " ", None], name="n"))
        self.assertEqual((str(found.dtype), found.name, found.isna().tolist()), ("Int64", "n", [False, True, True]))


class Text(unittest.TestCase):
    def setUp(self):
        self.program = Program("text.py")

    def test_text_is_cut_to_its_limit(self):
        self.assertEqual(self.program.cut_end("abc", 3), "abc")
        self.assertEqual(self.program.cut_end("abcd", 3), "ab…")
        self.assertEqual(self.program.cut_end("abc", 0), "…")
        shown = self.program.cut_middle("a" * 500 + "z" * 500, 200, 'data["x"]')
        self.assertLessEqual(len(self.program.encode(shown)), 200)
        self.assertTrue(shown.startswith("aaa") and shown.endswith("zzz"), shown)
        n_cut = 1_000 - shown.count("a", 0, shown.index("\n")) - len(shown.rsplit("\n", 1)[1])
        self.assertIn(f"… {n_cut} characters cut; the full text is data[\"x\"] …", shown)
        self.assertEqual(self.program.cut_middle("short", 200), "short")

    def test_half_a_surrogate_becomes_a_question_mark(self):
        self.assertEqual(self.program.encode({"a": "x\ud800"}), b'{"a":"x?"}')

    def test_a_value_becomes_a_cell(self):
        for value, expected in [
            ("abcdefg", "abcde…"), (True, True), (2**53 - 1, 2**53 - 1), (2**53, str(2**53)), (0.5, 0.5),
            (float("nan"), None), (float("inf"), "inf"), (pd.NA, None), (pd.NaT, None), (None, None),
            (np.float32(0.1), 0.1), (np.int64(3), 3), (np.bool_(True), True), (date(2024, 2, 29), "2024-02-29"),
            (Decimal("1.20"), "1.20"), (Decimal("NaN"), None), (Decimal("-Infinity"), "-inf"),
            (b"\x00", "AA=="), ([1, None], "[1,nu…"),
            (timedelta(days=1), "P1DT0H0M0S"), (pd.Timestamp("2024-02-29"), "2024-02-29T00:00:00"),
        ]:
            self.assertEqual(self.program.cell(value, 6), expected, repr(value))

    def test_a_column_is_its_cells(self):
        for series, expected in [
            (pd.Series([1, 2**60]), [1, str(2**60)]), (pd.Series([0.5, np.nan, np.inf]), [0.5, None, "inf"]),
            (pd.Series([True, False]), [True, False]), (pd.Series(["a", None]), ["a", None]),
            (pd.Series([1.5, "x", pd.NaT], dtype=object), [1.5, "x", None]),
            (pd.Series([0.1, np.nan], dtype="float32"), [0.1, None]),
            (pd.Series(["a", "b"], dtype="category"), ["a", "b"]), (pd.Series([1, None], dtype="Int64"), [1, None]),
        ]:
            self.assertEqual(self.program.cells(series, 9), expected, series)

    def test_addresses_are_left_out(self):
        self.assertEqual(self.program.same_every_time("<f at 0x7f3a> b"), "<f> b")


class Frames(unittest.TestCase):
    def setUp(self):
        self.program = Program("frames.py")

    def test_names_of_columns_are_plain_and_differ(self):
        self.assertEqual(self.program.unique(["a", "a", "a_2", "a"]), ["a", "a_3", "a_2", "a_4"])
        self.assertEqual(self.program.column_text(("day", "", 3)), "day_3")
        self.assertEqual(self.program.column_text(None), "None")

    def test_an_index_with_a_meaning_becomes_columns(self):
        frame = pd.DataFrame({"a": [1, 2, 3]})
        for index, row_labels, expected in [
            (None, True, ["a"]), (pd.Index([5, 9, 7]), False, ["a"]), (pd.Index([5, 9, 7]), True, ["index", "a"]),
            (pd.Index(["x", "y", "z"]), False, ["index", "a"]),
            (pd.Index(["x", "y", "z"], name="a"), False, ["a", "a_2"]),
            (pd.MultiIndex.from_tuples([(1, 2), (3, 4), (5, 6)]), False, ["level_0", "level_1", "a"]),
        ]:
            shown = self.program.flat(frame if index is None else frame.set_index(index), row_labels)
            self.assertEqual(list(shown.columns), expected)

    def test_a_wide_frame_is_shown_in_part(self):
        frame = pd.DataFrame([["x" * 500] * 300] * 30, columns=[f"c{it}" for it in range(300)])
        shown = self.program.show_frame(frame)
        self.assertLessEqual(len(self.program.encode(shown)) - len(',"column_count":300'), 20_480)
        self.assertEqual((shown["row_count"], shown["column_count"]), (30, 300))
        self.assertEqual(self.program.state.notes, [f"{len(shown['columns'])} of 300 columns are shown"])


class Snapshot(unittest.TestCase):
    def setUp(self):
        self.program = Program("snapshot.py")

    def save(self, have=(), **variables):
        self.program.names["namespace"].clear()
        self.program.names["namespace"].update(variables)
        result = self.program.save({"have": dict(have)})["result"]
        manifest = pathlib.Path(self.program.scratch, ".snapshot-manifest.json")
        return result, json.loads(manifest.read_text())["variables"]

    def test_files_are_named_after_their_content(self):
        frame = pd.DataFrame({"a": [1, 2]})
        result, kept = self.save(x={1, 2}, y={1, 2}, f=frame, g=frame.copy(), h=frame + 1)
        self.assertRegex(kept["x"]["file"], r"^value-[0-9a-f]{32}\.pickle$")
        self.assertRegex(kept["f"]["file"], r"^frame-[0-9a-f]{32}\.parquet$")
        self.assertEqual((kept["x"]["file"], kept["f"]["file"]), (kept["y"]["file"], kept["g"]["file"]))
        self.assertNotEqual(kept["f"]["file"], kept["h"]["file"])
        self.assertEqual(sorted(result["written"]), result["used"])
        self.assertEqual(len(result["used"]), 3)
        for it in kept.values():
            size = os.stat(f"{self.program.scratch}/.snapshot-{it['file']}").st_size
            self.assertEqual(size, it["bytes"], it)
        again, _ = self.save({it["file"]: it["bytes"] for it in kept.values()}, x={1, 2}, f=frame)
        self.assertEqual(again["written"], [])

    def test_what_was_saved_is_restored_when_it_is_mentioned(self):
        with tempfile.TemporaryDirectory() as saved:
            frame = pd.DataFrame({"a": pd.Categorical(["x", "y"], ["y", "x", "z"], ordered=True)}, index=[3, 5])
            result, _ = self.save(n=[1, "é"], s={1, 2}, f=frame, c=frame.a, m=json, lost=lambda: 0)
            self.assertEqual(list(result["lost"]), ["lost"])
            for file in os.listdir(self.program.scratch):
                os.rename(f"{self.program.scratch}/{file}", f"{saved}/{file.removeprefix('.snapshot-')}")
            later = Program("snapshot.py", saved=saved)
            later.open_snapshot()
            names = later.names["namespace"]
            self.assertEqual(names, {})
            later.mention("n + f")
            self.assertEqual(sorted(names), ["f", "n"])
            later.mention("c, s, m")
            self.assertEqual((names["n"], names["s"], names["m"]), ([1, "é"], {1, 2}, json))
            pd.testing.assert_frame_equal(names["f"], frame)
            pd.testing.assert_series_equal(names["c"], frame.a)
            self.assertEqual(len(later.state.notes), 1)
            self.assertIn("`lost` of an earlier run was not kept", later.state.notes[0])

    def test_a_file_outside_the_snapshot_is_not_opened(self):
        with tempfile.TemporaryDirectory() as saved:
            entry = {"kind": "pickle", "file": "../x", "bytes": 1}
            manifest = {"version": 1, "variables": {"x": entry}, "lost": {}}
            pathlib.Path(saved, "manifest.json").write_text(json.dumps(manifest))
            program = Program("snapshot.py", saved=saved)
            program.open_snapshot()
            self.assertEqual(program.state.pending, {})
            self.assertEqual(program.state.notes, ["`x` of an earlier run was lost: its file is missing or damaged"])

    def test_only_what_json_gives_back_is_kept_as_json(self):
        for value in [None, True, 10**30, 0.5, "é", [1, [2]], {"a": {"b": []}}]:
            self.assertTrue(self.program.is_json(value, 5), repr(value))
        for value in [(1,), {1: 2}, float("nan"), "\ud800", np.int64(1), [[[1]]], [0] * 10_001, {"a": {1}}]:
            self.assertFalse(self.program.is_json(value, 2), repr(value)[:80])


class Outputs(unittest.TestCase):
    def test_a_long_text_is_put_into_data(self):
        program = Program("outputs.py")
        shown = program.show("x" * 10_000)
        store = program.names["namespace"]["data"]
        self.assertRegex(shown["data_key"], r"^python_repl_[0-9a-f]{8}$")
        self.assertEqual(store, {shown["data_key"]: "x" * 10_000})
        self.assertIn(f'the full text is data["{shown["data_key"]}"]', shown["text"])
        self.assertLessEqual(len(program.encode(shown["text"])), 4_096)
        self.assertEqual(program.show(1), {"kind": "text", "text": "1"})

    def test_a_variable_of_the_code_that_is_called_data_is_left_alone(self):
        program = Program("outputs.py")
        program.names["namespace"]["data"] = [1]
        _, place = program.put_aside("find", "x", b"x")
        self.assertTrue(place.startswith('stored_data["find_'), place)
        self.assertEqual(program.names["namespace"]["data"], [1])

    def test_the_oldest_output_makes_room(self):
        program = Program("outputs.py")
        keys = [program.put_aside("find", n, str(n).encode())[0] for n in range(101)]
        self.assertEqual(list(program.names["namespace"]["data"]), keys[1:])
        self.assertIn(keys[0], program.state.notes[0])

    def test_the_frame_that_was_mentioned_last_stays(self):
        program = Program("outputs.py", frames_bytes=1 << 20)
        names = program.names["namespace"]
        names.update(a=pd.DataFrame({"x": np.zeros(100_000)}), b=pd.DataFrame({"x": np.ones(100_000)}))
        program.state.calls = 2
        program.state.used = {"a": 2, "b": 1}
        program.prune()
        self.assertEqual(list(names), ["a"])
        self.assertIn("`b` (0 MB) was dropped", program.state.notes[0])


class Datasets(unittest.TestCase):
    def setUp(self):
        path = f"{tempfile.mkdtemp(dir=FOLDER_OF_TESTS.name)}/sales.parquet"
        frame = pd.DataFrame({"day": ["mon", "tue", "wed"], "n": pd.array([1, None, 3], "Int64")})
        pa.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), path)
        self.program = Program("datasets.py", datasets={"sales": path})

    def refused(self, *args, **options):
        with self.assertRaises(self.program.Refused) as caught:
            self.program.load(*args, **options)
        return str(caught.exception)

    def test_a_dataset_or_a_part_of_it_is_read(self):
        frame = self.program.load("sales", columns=["n", "day"], n_rows=2)
        self.assertEqual(list(frame.columns), ["n", "day"])
        self.assertEqual(frame.n.tolist(), [1, pd.NA])
        self.assertEqual(len(self.program.load("sales", "day")), 3)
        for n_rows, n_read in [(0, 0), (1, 1), (3, 3), (9, 3)]:
            frame = self.program.load("sales", n_rows=n_rows)
            self.assertEqual((len(frame), list(frame.columns)), (n_read, ["day", "n"]), n_rows)

    def test_what_is_not_there_is_refused_with_what_is(self):
        self.assertEqual(self.refused("sale"),
                         "no dataset `sale` (did you mean `sales`?); the session has: `sales`")
        self.assertEqual(self.refused("sales", columns=["Day", "q"]),
                         "`sales` has no columns `Day` (did you mean `day`?), `q`; the columns are: `day`, `n`")
        self.assertEqual(self.refused("sales", n_rows=-1),
                         "`n_rows` is -1; it must be 0 or more, or None for all rows")
        self.assertEqual(self.refused("sales", columns=[]), "`columns` is empty; name at least one column")


class Tables(unittest.TestCase):
    def test_rows_are_sent_as_long_as_they_fit(self):
        within = Program("tables.py").within
        rows = [[1, "a"], [2, "b"], [3, "c"]]
        self.assertEqual(within(rows, 10, 1_000), rows)
        self.assertEqual(within(rows, 10, 2 * (len('[1,"a"]') + 10)), rows[:2])
        self.assertEqual(within(rows, 10, 5), [])

    def test_a_column_of_mixed_values_is_written_as_text(self):
        program = Program("tables.py")
        file = program.write_whole(pd.DataFrame({"a": [1, "x", None, [2]]}))
        self.assertEqual(file, "table-1.parquet")
        found = pa.parquet.read_table(f"{program.scratch}/{file}").column("a").to_pylist()
        self.assertEqual(found, ["1", "x", None, "[2]"])

    def test_a_word_of_python_or_of_the_worker_is_no_variable(self):
        program = Program("tables.py")
        program.names["PRELOADED"]["pd"] = pd
        for name in ["class", "1a", "a b", "__x", "pd"]:
            with self.assertRaises(program.Refused, msg=name):
                program.load_into({"variable": name})


class Container(unittest.TestCase):
    def test_the_directory_of_the_code_takes_the_place_of_the_container(self):
        program = Program("container.py")
        code = 'open("/mnt/data/a.csv"); "/mnt/database"; f"/mnt/data/{x}"'
        found = ast.unparse(program.Here().visit(ast.parse(code)))
        here = program.scratch
        self.assertEqual(found, ast.unparse(ast.parse(code.replace("/mnt/data/", f"{here}/"))))


class Cells(unittest.TestCase):
    def setUp(self):
        self.program = Program("cells.py")

    def run_code(self, code):
        return self.program.run({"code": code})["result"]

    def test_the_last_expression_is_shown(self):
        self.assertEqual(self.run_code("x = 2\nx + 1"), {"kind": "text", "text": "3"})
        self.assertEqual(self.run_code("x;"), {"kind": "none"})
        self.assertEqual(self.run_code("x = 3"), {"kind": "none"})

    def test_what_comes_of_first_rows_is_followed(self):
        sample = "the first rows of a dataset: load the dataset before computing an answer"
        self.program.names["namespace"]["load"] = lambda name, n_rows=None: pd.Series([1, 2])
        self.assertEqual(self.run_code('a = load("s", n_rows=2)\nb = a + 1\nb.sum()')["sample"], sample)
        self.assertNotIn("sample", self.run_code('b = load("s")\nb.sum()'))
        self.assertEqual(self.program.state.samples, {"a": sample})


class Errors(unittest.TestCase):
    def setUp(self):
        self.program = Program("errors.py", datasets={"sales": "/sales.parquet"})

    def failure(self, code):
        try:
            self.program.run({"code": code})
        except BaseException as error:
            return self.program.failure(error)["result"]
        raise AssertionError(f"{code} raised nothing")

    def test_lines_are_those_of_the_code(self):
        self.program.run({"code": "def f(x):\n\n    return 1 / x"})
        text = self.failure("a = 1\nf(0)")["text"]
        self.assertIn('File "<cell>", line 2, in <module>\n    f(0)', text)
        self.assertIn('File "<earlier cell>", line 3, in f\n    return 1 / x', text)
        self.assertIn("ZeroDivisionError: division by zero", text)

    def test_an_error_that_models_run_into_comes_with_advice(self):
        for code, expected in [
            ("import matplotlib_", "Nothing can be installed here; there are pandas and the standard library."),
            ("import seaborn", "Pictures that Python draws do not reach the user"),
            ("load_dataset_full('sales')", "`load_dataset_full` is a tool, not a Python function: in Python use load("),
            ("open('sales.csv')", "Datasets are not CSV files here: load(\"sales\") returns this one"),
            ("import pandas as pd\npd.DataFrame({'day': [1]})['Day']", "no column `Day` (did you mean `day`?)"),
            ("raise MemoryError", "The memory limit of 1024 MB was reached."),
        ]:
            self.assertIn(expected, self.failure(code)["text"])

    def test_a_refusal_is_one_sentence(self):
        result = self.program.failure(self.program.Refused("no dataset `x`"))["result"]
        self.assertEqual(result["text"], "no dataset `x`")
        self.assertEqual(result["error"], {"type": "LookupError", "message": "no dataset `x`"})

    def test_a_traceback_has_no_stack_of_java(self):
        said = "x [A] SQLSTATE: 42703;\n'Project [a]\n+- Relation"
        self.assertEqual(self.program.without_plan(r"\1", said), "x [A] SQLSTATE: 42703")
        self.assertEqual(self.program.without_stack("", "x\n\tat a.b.C$.d(C.scala:12)\n  a.e(F.java)"), "x")


class Protocol(unittest.TestCase):
    def test_an_answer_that_is_too_large_becomes_an_error(self):
        program = Program("protocol.py", line_bytes=200)
        program.respond("7", {"result": {"kind": "text", "text": "x" * 500}})
        self.assertEqual(program.written[202], b"\x007\x00")
        answer = json.loads(program.written[201])
        self.assertEqual((answer["id"], answer["status"]), ("7", "error"))
        self.assertEqual(answer["result"]["text"], "the result is too large to be sent")

    def test_requests_are_lines_however_they_arrive(self):
        program = Program("protocol.py")
        program.incoming = [b'{"id":', b'"1"}\n{"id":"2"}', b"\n"]
        requests = program.requests()
        self.assertEqual([next(requests)["id"], next(requests)["id"]], ["1", "2"])
        with self.assertRaises(Ended):
            next(requests)


class Main(unittest.TestCase):
    """The whole program, with commands as they come from csv-agent."""

    def test_it_says_that_it_is_ready_and_answers_each_command(self):
        kept = {it: getattr(sys, it) for it in ("stdout", "stderr", "__stdout__", "__stderr__")}
        main, show_warning = sys.modules["__main__"], warnings.showwarning
        handler, folder = signal.getsignal(signal.SIGINT), os.getcwd()
        program = Program("protocol.py")
        program.incoming = [json.dumps(it).encode() + b"\n" for it in (
            {"id": "1", "command": "run", "code": "x = num('1,234')\nint(x[0])"},
            {"id": "2", "command": "run", "code": "1 / 0"},
            {"id": "3", "command": "run", "code": "load = 5; load"},
            {"id": "4", "command": "run", "code": "callable(load)"},
        )]
        os.chdir(program.scratch)
        try:
            with self.assertRaises(Ended):
                program.add("main.py")
        finally:
            vars(sys).update(kept)
            sys.modules["__main__"], warnings.showwarning = main, show_warning
            signal.signal(signal.SIGINT, handler)
            os.chdir(folder)
        answers = [json.loads(it) for it in program.written[201].splitlines()]
        self.assertEqual([it["id"] for it in answers], ["start", "1", "2", "3", "4"])
        self.assertEqual(answers[0]["ready"]["pandas"], pd.__version__)
        self.assertEqual(answers[1]["result"], {"kind": "text", "text": "1234"})
        self.assertEqual(answers[2]["result"]["error"], {"type": "ZeroDivisionError", "message": "division by zero"})
        note = "`load` is reserved here, and is what it was again; use another name for your value"
        self.assertEqual(answers[3]["result"], {"kind": "text", "text": "5", "notes": [note]})
        self.assertEqual(answers[4]["result"], {"kind": "text", "text": "True"})
        self.assertEqual(program.written[202], b"\0start\0\x001\x00\x002\x00\x003\x00\x004\x00")
        self.assertEqual(sorted(program.names["PRELOADED"]), ["datasets", "load", "np", "num", "pd"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
