"""The main program: prepares the process and the variables, reports that it is ready, and serves commands."""

import sys
import warnings
from builtins import __dict__ as BUILTINS
from types import ModuleType
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import pyarrow as pa

with catch_warnings():
    simplefilter("ignore")
    warm_up()
if CLUSTER is not None:
    cluster = open_cluster()  # its threads are there before the processes are counted
if start["processes"] is not None:
    limit_processes(start["processes"])

warnings.showwarning = show_warning
if IS_CONTAINER:
    fill_container()
    PRELOADED = {"display": display}
else:
    if not np.__version__.startswith("1."):
        np.set_printoptions(legacy="1.25")  # 0.83, not np.float64(0.83)
    pd.set_option("display.width", 160, "display.max_columns", 40, "display.max_colwidth", 80)
    PRELOADED = {"pd": pd, "np": np, "load": load, "datasets": link_datasets(), "num": num}
if cluster is not None:
    PRELOADED["spark"] = cluster.session()
main = ModuleType("__main__")
namespace = main.__dict__  # pickle finds the code's classes there
namespace.update(PRELOADED)
sys.modules["__main__"] = main

output = [new_output()]
BUILTINS_AT_START = dict(BUILTINS)
MODULES = sys.modules
MODULES_AT_START = dict(MODULES)

open_snapshot()
for name in [*results(), *PRELOADED]:
    state.pending.pop(name, None)  # the result is newer, and what csv-agent provides is reserved
repair()
versions = {"python": sys.version.split()[0], "pandas": pd.__version__, "numpy": np.__version__,
            "pyarrow": pa.__version__}
respond(start["id"], {"ready": versions})
for request in requests():
    serve(request)
