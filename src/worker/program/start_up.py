"""The worker: runs the model's code and answers one line for each command.

Trust. From the first command on, this program runs beside code that may be hostile. The program keeps honest
code and accidents from breaking the protocol. It is not a wall. The walls are the confinement of the process,
and the other end of the pipes, which treats every answer as data: it measures and checks an answer and never
obeys one.

Start. csv-agent joins the files of this directory and sends one line, `start`, with their text and the
settings. A few statements then run the text with a private copy of the builtins, so that changes that the
code makes to `builtins` do not reach the functions here. Functions that matter are imported by name for the
same reason: code that replaces `os.write` changes the module, not the reference held here.

Files. All of them share one namespace. A file uses only names of the files before it, and imports of its own.

Processes. A monitor runs between csv-agent and this process. It has taken rights away and set limits. It
passes interrupts on. When csv-agent ends, it kills this process and every process started from it.

Descriptors. Requests, responses and output arrive as 0, 1 and 2 and move to higher numbers at once. Then 0
is /dev/null, and 1 and 2 are the output pipe, which csv-agent reads during a call. Where datasets are on a
cluster, 3 is the stream to csv-agent's relay; `spark.py` uses it.
"""

import sys
from os import O_RDONLY, chdir, close, closerange, dup2, open as open_fd, umask

REQUESTS, RESPONSES, OUTPUT, NULL, RELAY = 200, 201, 202, 203, 204
CLUSTER = start["cluster"]  # the datasets on a cluster; None without a cluster


def take_descriptors():
    """Moves the protocol away from the descriptors that code and its children write to.

    Descriptors that csv-agent inherited from its own caller are closed: the code must not have them.
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
# `-c` puts the current directory first. A file there must not be imported in place of a module.
sys.path[:] = [path for path in sys.path if path not in ("", ".", start["scratch"])]
chdir(start["scratch"])
