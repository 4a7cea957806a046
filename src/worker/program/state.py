"""What the worker knows besides the variables, and what the files after this one share.

The last lines are stand-ins: `main.py` sets the names once everything is loaded.
"""

import sys

SCRATCH = start["scratch"]
IS_CONTAINER = start["container"] is not None  # whether this stands in for one of a provider's
BALLAST_BYTES = 16 * 1024 * 1024


class Interrupted(KeyboardInterrupt):
    """Raised in the code at its deadline. No `Exception`, so `except Exception` lets it through."""


class Refused(Exception):
    """A command that cannot be done, with the sentence that says why."""


class State:
    """What the worker knows besides the variables."""

    running = False  # whether an interrupt may raise
    calls = 0
    tables = 0
    cell = ""  # the name of the code that runs
    cells = []  # the names of the last cells, oldest first
    notes = []  # sentences for the model, sent with the next outcome
    store = None  # the variable `data`, if it is ours
    samples = {}  # variable that holds no more than first rows of a dataset, or comes of it → of which
    printed = []  # what the call has printed through `sys.stdout`, as far as it is kept
    printed_chars = 0
    used = {}  # variable → the last call that mentioned it
    sources = {}  # name → (file, source) of a function or class that a cell defined
    pending = {}  # variables of an earlier process, not needed yet → entry of the manifest
    told = set()  # frames of a cluster that cannot be had, which was said once
    ballast = bytearray(BALLAST_BYTES)  # given up when memory runs out, so the error can be told


state = State()
namespace = {}
cluster = None  # the functions of `spark.py`, where datasets are on a cluster
PRELOADED = {}  # name → value of what the code finds at hand
output = []  # the one file that the code prints to
MODULES = sys.modules
MODULES_AT_START, BUILTINS_AT_START = {}, {}
