"""The worker: runs the model's code and answers one line for each command.

Trust. Once the first command has come, all of this runs beside code that may be hostile. What is written here keeps
honest code and accidents from breaking the protocol; it is no wall. The wall is the confinement of
the process, and the other end, which takes every answer as data: measured, checked, never obeyed.

How it starts. csv-agent sends one line, `start`, that holds this text and the settings. A bootstrap
of a few statements runs the text with a private copy of the builtins, so that functions here do not
see what the code does to `builtins`. For the same reason names are imported one by one: replacing
`os.write` or `json.dumps` changes a module, not the reference held here.

Processes. What stands between csv-agent and this process has taken its rights away and set its limits,
passes interrupts on, and kills it and all it started when csv-agent goes away.

Descriptors. Requests, responses and output arrive as 0, 1 and 2 and are moved up at once. Then 0 is
/dev/null, and 1 and 2 are the output pipe, which csv-agent drains during a call, keeping a part. Where
datasets are on a cluster, 3 is the stream to csv-agent's relay, of which `spark.py` knows more.
"""

import ast
import io
import linecache
import re
import sys
from base64 import b64encode
from builtins import __dict__ as BUILTINS
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from errno import EACCES, EAGAIN, EFBIG, ENOENT, EPERM, EROFS, EXDEV
from hashlib import sha256
from importlib import import_module
from json import JSONDecoder
from json.encoder import c_make_encoder, encode_basestring
from keyword import iskeyword
from math import isfinite
from os import (O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY, _exit, chdir, close, closerange,
                dup2, fdopen, getpid, lstat, mkdir, open as open_fd, read, symlink, umask, unlink,
                write)
from pickle import Pickler, Unpickler
from resource import RLIMIT_NPROC, getrlimit, setrlimit
from shutil import copyfile, rmtree
from signal import ITIMER_REAL, SIG_SETMASK, SIGINT
from traceback import FrameSummary, StackSummary, TracebackException, walk_tb
from types import FunctionType, ModuleType
from warnings import catch_warnings, simplefilter
from zlib import crc32

from _thread import start_new_thread
# The functions of `signal` itself are Python around these, and stop working without `isinstance`.
from _signal import pthread_sigmask, setitimer, signal as set_handler

REQUESTS, RESPONSES, OUTPUT, NULL, RELAY = 200, 201, 202, 203, 204
CLUSTER = start["cluster"]  # what is known of datasets on a cluster; none if there are none

# --- The process, before anything large is in it --------------------------------------------------


def take_descriptors():
    """Moves the protocol away from the numbers that code and its children write to.

    What csv-agent itself inherited from its caller is closed: it is no business of the code.
    """
    for number, place in ((0, REQUESTS), (1, RESPONSES), (2, OUTPUT)):
        dup2(number, place, inheritable=False)
    if CLUSTER is not None:
        dup2(3, RELAY, inheritable=False)
    null = open_fd("/dev/null", O_RDONLY)
    dup2(null, NULL, inheritable=False)
    close(null)
    dup2(NULL, 0)
    dup2(OUTPUT, 1)
    dup2(OUTPUT, 2)
    closerange(3, REQUESTS)
    closerange(NULL + 1 if CLUSTER is None else RELAY + 1, 65_536)


umask(0o077)
take_descriptors()
# `-c` puts the current directory first: a file there must not stand in for a module.
sys.path[:] = [path for path in sys.path if path not in ("", ".", start["scratch"])]
chdir(start["scratch"])

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import pyarrow as pa  # noqa: E402
from pandas import NA, DataFrame, NaT, RangeIndex, Series, Timedelta, Timestamp  # noqa: E402
from pandas.api.types import infer_dtype, is_integer_dtype  # noqa: E402
from pyarrow.parquet import ParquetFile, read_table, write_table  # noqa: E402
