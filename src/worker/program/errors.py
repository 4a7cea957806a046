"""Errors: the outcome of a command that raised, with advice on what to do instead.

A traceback shows only lines of the code. The lines inside libraries would distract the model.
"""

import re
from errno import EACCES, EAGAIN, EFBIG, ENOENT, EPERM, EROFS, EXDEV
from traceback import FrameSummary, StackSummary, TracebackException, walk_tb

from pandas import DataFrame

# Spark's message about an error ends with a plan of many pages and stacks of Java, which are removed.
without_plan = re.compile(r"(SQLSTATE: \w{5});?\n.*", re.DOTALL).sub
without_stack = re.compile(r"(\n+\s*(at )?[\w.$/<>]+\((\w+\.(java|scala)(:\d+)?|Native Method)\))+").sub
quoted = re.compile(r"'([^']+)'").findall


def failure(error):
    """Returns the outcome of a command that raised."""
    status, name, message = "error", type(error).__name__, ""
    if isinstance(error, Interrupted):
        status, name = "timeout", "TimeoutError"
        text = message = "interrupted at the deadline; variables that were assigned before are kept"
    elif isinstance(error, Refused):
        name, text = "LookupError", str(error)
        message = text
    elif isinstance(error, MemoryError):
        state.ballast = None
        text = f"{traceback_of(error)}\n{memory_hint()}"
        message = message_of(error) or "out of memory"
        name = "MemoryError"
    elif isinstance(error, SystemExit):
        message = f"the code asked to exit with {message_of(error) or 'None'}; the REPL continues"
        text = f"SystemExit: {message}"
    else:
        message, text = message_of(error), traceback_of(error)
        if not IS_CONTAINER:  # where the code is not written again after an error
            if advice := advice_on(error, message):
                text += f"\n{advice}"
            if not isinstance(error, SyntaxError):
                text += "\nVariables that were set before this line are kept."
    text = cut_middle(same_every_time(text), start["text_bytes"])
    details = {"type": name, "message": cut_end(same_every_time(message), 1_000)}
    return {"status": status, "result": {"kind": "error", "error": details, "text": text}}


# Tools that models call as if they were Python functions, and what to write instead.
TOOLS = {
    "load_dataset_full": "load(name)",
    "load_dataset_columns": "load(name, columns)",
    "load_dataset_sample": "load(name, n_rows=5)",
    "list_datasets": "`datasets`, whose keys are the names,",
    "get_dataset_info": "load(name).dtypes",
    "find_value_columns": None,
    "send_data_to_ui_as_df": None,
    "send_chart_to_ui": None,
    "python_repl": None,
}
# Packages that draw pictures, which nobody would see.
DRAWS = {"matplotlib", "seaborn", "plotly", "altair", "bokeh", "plotnine", "pygal", "hvplot"}


def advice_on(error, message):
    """Returns advice for an error that models often cause, or None for any other error."""
    try:
        if cluster is not None and (advice := cluster.advice_on(error, message)):
            return advice
        if isinstance(error, ImportError):
            return advice_on_import(error, message)
        if isinstance(error, NameError) and error.name in TOOLS:
            instead = TOOLS[error.name]
            return f"`{error.name}` is a tool, not a Python function: " + (
                f"in Python use {instead}." if instead else "call it as a tool.")
        if name := dataset_meant(error):
            return f"Datasets are not CSV files here: load(\"{name}\") returns this one as a DataFrame."
        if advice := advice_on_columns(error):
            return advice
        if isinstance(error, OSError) and (rule := rule_of(error)):
            return rule
        if isinstance(error, FileNotFoundError):
            names = ", ".join(f"`{it}`" for it in [*start["datasets"]][:20]) or "none"
            return f"The only files here are the datasets ({names}): load one by its name, load(\"name\")."
        if isinstance(error, RuntimeError) and "can't start new thread" in message:
            allowed = start["processes"]
            return (f"At most {allowed} processes and threads may run beside this one." if allowed
                    else f"At most {start['tasks']} threads may run here.")
    except Exception:  # the class of the error is defined by the code
        pass
    return None


def advice_on_import(error, message):
    asked = set(words_of(message)) | {str(error.name).partition(".")[0]}
    if asked & DRAWS:
        return ("Pictures that Python draws do not reach the user: make a DataFrame of the values "
                "to show, then call the tool that draws charts.")
    return f"Nothing can be installed here; there are {start['packages']} and the standard library."


def dataset_meant(error):
    """Returns the dataset that the code tried to open as a file or to read as text."""
    names = start["datasets"]
    if isinstance(error, FileNotFoundError) and type(error.filename) is str:
        stem = error.filename.rsplit("/", 1)[-1].partition(".")[0].casefold()
        return next((it for it in names if it.casefold() == stem), None)
    # These errors come from reading a Parquet file as UTF-8 or CSV.
    if not isinstance(error, UnicodeDecodeError) and type(error).__name__ != "ParserError":
        return None
    files = dict.fromkeys(it.f_code.co_filename for it, _ in walk_tb(error.__traceback__))
    code = "".join("".join(LINES[it][2]) for it in files if it.startswith("<cell ") and it in LINES)
    return next((it for it in sorted(names, key=len, reverse=True) if it in code), None)


def advice_on_columns(error):
    """Returns the columns of a frame, for an error about a column that it does not have."""
    said = error.args[0] if error.args else ""
    if type(said) is not str:
        return None
    if isinstance(error, AttributeError):
        asked = [error.name]
    elif isinstance(error, KeyError) or type(error).__name__ == "UndefinedVariableError":
        asked = quoted(said.partition("dtype=")[0]) or [said]
    else:
        return None
    known = columns_asked(error)
    missing = [it for it in dict.fromkeys(asked) if known and it not in known]
    if not missing or isinstance(error, AttributeError) and not nearest(missing[0], known):
        return None
    there = "There is" if len(missing) == 1 else "There are"
    return cut_end(f"{there} {no_columns(missing, known)}", 1_500)


# Functions of pandas that look for a row if `axis` is 0.
FINDS_ROWS = {"xs", "_get_label", "_getitem_axis", "_drop_axis"}


def columns_asked(error):
    """Returns the columns of the frame that was searched for a column when the error was raised."""
    frames = [it for it, _ in walk_tb(error.__traceback__)]
    if frames[-1].f_code.co_filename.startswith("<cell "):
        return None  # the code itself raised it, about a mapping of its own
    for frame in reversed(frames):
        found = frame.f_locals
        if frame.f_code.co_filename.startswith("<cell "):
            continue
        if frame.f_code.co_name in FINDS_ROWS and found.get("axis") == 0:
            return None
        for value in (found.get("self"), found.get("obj"), found.get("frame")):
            value = getattr(value, "obj", value) if not is_frame(value) else value
            if issubclass(type(value), DataFrame):
                return [it for it in value.columns if type(it) is str]
    return None


def rule_of(error):
    """Returns the rule of the confinement that probably caused an error, or None."""
    files = [it.f_code.co_filename for it, _ in walk_tb(error.__traceback__)]
    if any(it.endswith(("/socket.py", "/ssl.py", "/urllib/request.py")) for it in files):
        return "There is no network here; only the registered datasets can be read."
    starts = any(it.endswith("/subprocess.py") for it in files)
    if error.errno == EAGAIN or error.errno == EPERM and starts:
        allowed = start["processes"]
        return (f"At most {allowed} processes may run beside this one." if allowed
                else "No other process can be started here.")
    if error.errno == EFBIG:
        return f"A file may have at most {start['file_bytes'] >> 20} MB."
    if error.errno in (EACCES, EPERM, EROFS, EXDEV) or error.errno == ENOENT and is_outside(error):
        return ("Only the datasets and Python's own files can be read here, and files can be written "
                "only in the working directory. Load a dataset by its name: load('name').")
    return None


def is_outside(error):
    path = error.filename
    return type(path) is str and path.startswith("/") and not path.startswith(SCRATCH)


def memory_hint():
    return (f"The memory limit of {start['memory_bytes'] >> 20} MB was reached. The variables are "
            "kept. Need less: load only some columns, work on a sample, use smaller dtypes "
            "(category, float32), aggregate before merging, or delete frames that are no longer needed.")


def message_of(error):
    try:
        # The text of a SyntaxError also contains the name and the line of the cell.
        said = error.msg if isinstance(error, SyntaxError) else error
        return cut_end(without_inside(str(said)), MESSAGE_CHARS_MAX)
    except Exception:  # the class is defined by the code
        return ""


def traceback_of(error):
    """Returns a traceback with only the frames of the code."""
    try:
        report = TracebackException(type(error), error, error.__traceback__, compact=True)
        return only_own_frames(report, 8)
    except Exception:  # the code has replaced parts of the library
        return f"{type(error).__name__}: {message_of(error)}"


def only_own_frames(report, depth):
    # The chain of causes, oldest first, without causes that are wholly inside a library.
    parts, links = [], []
    while report is not None and depth:
        own = [frame for frame in report.stack if frame.filename.startswith("<cell ")]
        if len(own) > 12:
            own = own[:6] + own[-6:]
        stack = StackSummary.from_list(
            [FrameSummary(said(it.filename), it.lineno, it.name, line=it.line) for it in own])
        if isinstance(getattr(report, "filename", None), str):
            report.filename = said(report.filename)
        if own or not parts:
            lines = ["Traceback (most recent call last):\n", *stack.format()] if own else []
            parts.append("".join([*lines, *map(cut_line, report.format_exception_only())]))
            links.append("\nThe above exception led to the following one:\n\n")
        hidden = report.__suppress_context__
        report, depth = report.__cause__ or (None if hidden else report.__context__), depth - 1
    text = parts.pop()
    while parts:
        text += links[0] + parts.pop()
    return text.rstrip()


def said(file):
    """Returns the file name that the model sees for a piece of code."""
    if file == state.cell:
        return "<cell>"
    return "<earlier cell>" if file.startswith("<cell ") else "<string>"


def cut_line(line):
    return cut_end(without_inside(line), MESSAGE_CHARS_MAX)


def without_inside(text):
    return without_stack("", without_plan(r"\1", text)) if cluster is not None else text
