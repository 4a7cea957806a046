"""The process around the commands: what is made ready before the first, and repaired around each."""

import io
import sys
# The functions of `signal` itself are Python around these, and stop working without `isinstance`.
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
    """A warning without the path and line of the library that gave it."""
    (file or sys.stderr).write(same_every_time(f"{category.__name__}: {message}\n"))


def repair():
    """Undoes what code may have done to the process and what the next call would stumble over."""
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
    namespace.pop("__warningregistry__", None)  # so that a warning comes in each call, not once


def take_ballast():
    """Sets memory aside again after it ran out, once there is clearly more than that."""
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
    """Puts a new session into `spark` where the last one was stopped, by code or by the server."""
    now = cluster.session()
    if namespace.get("spark") is PRELOADED["spark"]:
        namespace["spark"] = now
    PRELOADED["spark"] = now


def warm_up():
    """Starts the native thread pools and loads what would be imported late.

    Under the memory limit a pool that is not there yet cannot always be made, and then Arrow waits
    for ever and OpenBLAS ends the process. After this, lack of memory is a `MemoryError`.
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
    """Allows as many processes beside those that are there, of which threads of libraries are some.

    Nothing here says how many there are, so the limit is raised until there is room for one more.
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
