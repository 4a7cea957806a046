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

import sys
from os import O_RDONLY, chdir, close, closerange, dup2, open as open_fd, umask

REQUESTS, RESPONSES, OUTPUT, NULL, RELAY = 200, 201, 202, 203, 204
CLUSTER = start["cluster"]  # what is known of datasets on a cluster; none if there are none


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
