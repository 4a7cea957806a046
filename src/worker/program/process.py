"""The process: what is prepared before the first command, and repaired before and after each."""

import io
import sys
# The functions of `signal` wrap these in Python, which stops working when code replaces `isinstance`.
from _signal import pthread_sigmask, setitimer, signal as set_handler
from _thread import start_new_thread
from builtins import __dict__ as BUILTINS
from os import chdir, dup2
from resource import RLIMIT_NPROC, getrlimit, setrlimit
from signal import ITIMER_REAL, SIG_SETMASK, SIGINT
from types import ModuleType

import numpy as np
import pandas as pd
from pandas import DataFrame, Timestamp


def on_interrupt(_signal, _frame):
    if state.running:
        raise Interrupted


def show_warning(message, category, _file, _line, file=None, line=None):
    """Prints a warning without the path and line in a library."""
    (file or sys.stderr).write(same_every_time(f"{category.__name__}: {message}\n"))


def repair():
    """Undoes changes that code may have made to the process and that would break the next call."""
    for name, value in BUILTINS_AT_START.items():
        if BUILTINS.get(name) is not value:
            BUILTINS[name] = value
    setitimer(ITIMER_REAL, 0)
    set_handler(SIGINT, on_interrupt)
    pthread_sigmask(SIG_SETMASK, [])
    dup2(NULL, 0)
    dup2(OUTPUT, 1)
    dup2(OUTPUT, 2)
    chdir(SCRATCH)
    sys.setrecursionlimit(1_000)
    sys.settrace(None)
    sys.setprofile(None)
    if sys.modules is not MODULES:
        sys.modules = MODULES
    for name, value in MODULES_AT_START.items():
        if MODULES.get(name) is not value:
            MODULES[name] = value
    if output[0].closed:
        output[0] = new_output()
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = output[0]
    namespace["__builtins__"] = MODULES["builtins"]
    namespace["__name__"] = "__main__"
    namespace.pop("__warningregistry__", None)  # so that each call shows a warning again


def restore_preloaded():
    """Gives a name that the code took from csv-agent back to it. Otherwise later calls would not find `load`."""
    for name, value in PRELOADED.items():
        if namespace.get(name) is not value:
            namespace[name] = value
            state.notes.append(f"`{name}` is reserved here, and is what it was again; use another name for your value")


def take_ballast():
    """Reserves the ballast again after memory ran out, once there is clearly enough."""
    if state.ballast is None:
        try:
            bytearray(4 * BALLAST_BYTES)
            state.ballast = bytearray(BALLAST_BYTES)
        except MemoryError:
            pass


def open_cluster():
    """Loads Spark's client and gives it the stream to the relay. Nothing is sent yet."""
    made = ModuleType("cluster")
    made.__dict__.update(start=CLUSTER, number=RELAY, __builtins__=dict(BUILTINS))
    exec(compile(CLUSTER.pop("program"), "<spark>", "exec"), made.__dict__)
    return made


def renew_session():
    """Puts a new session into `spark` if code or the server has stopped the last one."""
    now = cluster.session()
    if namespace.get("spark") is PRELOADED["spark"]:
        namespace["spark"] = now
    PRELOADED["spark"] = now


def warm_up():
    """Starts the native thread pools and imports what would be imported late.

    When memory is short, a pool cannot always be started: Arrow then waits for ever, and OpenBLAS ends the
    process. With the pools started, lack of memory raises a `MemoryError`.
    """
    sink = io.BytesIO()
    frame = DataFrame({"a": [1.5], "b": ["x"], "c": [Timestamp("2020-01-01")]})
    frame.to_parquet(sink)
    frame = pd.read_parquet(sink)
    square = np.ones((64, 64)) @ np.ones((64, 64))
    np.linalg.inv(np.eye(8) + square[:8, :8])
    show(frame.groupby("b").a.mean())
    repr(frame)


def limit_processes(n_processes):
    """Allows `n_processes` more than there are now; threads, also those of libraries, count as processes.

    The number of processes cannot be read here, so the limit is raised until one more thread can start.
    """
    most = getrlimit(RLIMIT_NPROC)[1]
    for n_there in range(most):
        setrlimit(RLIMIT_NPROC, (n_there + 1, most))
        try:
            start_new_thread(int, ())
        except RuntimeError:
            continue
        bound = min(n_there + n_processes, most)
        setrlimit(RLIMIT_NPROC, (bound, bound))
        return
