"""State: what the worker knows besides the variables, and the names that several files share.

The names at the end have placeholders here; `main.py` sets them once everything is loaded.
"""

import sys

SCRATCH = start["scratch"]
IS_CONTAINER = start["container"] is not None  # whether the worker takes the place of a provider's container
BALLAST_BYTES = 16 * 1024 * 1024


class Interrupted(KeyboardInterrupt):
    """Raised in the code at its deadline. Not an `Exception`, so `except Exception` does not catch it."""


class Refused(Exception):
    """A command that the worker cannot perform. The text gives the reason."""


class State:
    """What the worker knows besides the variables."""

    running = False  # whether an interrupt may raise
    calls = 0  # commands performed, this one included
    tables = 0  # tables written to scratch
    cell = ""  # the file name of the code that runs
    cells = []  # the file names of the last cells, oldest first
    notes = []  # sentences for the model, sent with the next outcome
    store = None  # the dictionary of long outputs, which code finds as `data` or `stored_data`
    samples = {}  # variable that holds or derives from only the first rows of a dataset → which rows
    printed = []  # what the call printed through `sys.stdout`, up to PRINTED_CHARS_MAX
    printed_chars = 0
    used = {}  # variable → the last call that mentioned it
    sources = {}  # name → (file, source) of a function or class that a cell defined
    pending = {}  # variable of an earlier process that is not restored yet → its entry in the manifest
    told = set()  # frames of a cluster that cannot be restored; a note said so once
    ballast = bytearray(BALLAST_BYTES)  # released when memory runs out, so that the error can be reported


state = State()
namespace = {}  # the variables of the code
cluster = None  # the functions of `spark.py` if datasets are on a cluster
PRELOADED = {}  # name → value of the variables that the code finds
output = []  # one element: the file that the code prints to
MODULES = sys.modules
MODULES_AT_START, BUILTINS_AT_START = {}, {}
