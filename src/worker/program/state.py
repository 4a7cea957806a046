PID = getpid()
LINES = linecache.cache
SCRATCH = start["scratch"]
IS_CONTAINER = start["container"] is not None  # whether this stands in for one of a provider's
INT_MAX = 2**53 - 1
NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
HEAD_ROWS_MAX = 20
CELLS_MAX = 300
NAMES_MAX = 10_000
BALLAST_BYTES = 16 * 1024 * 1024
MESSAGE_CHARS_MAX = 4_000
PICKLE_BYTES_MAX = 32 * 1024 * 1024
FRAME_JSON_BYTES_MAX = start["line_bytes"] // 2
STORED_MAX = 100
PRINTED_CHARS_MAX = 4 * 1024 * 1024
PLAIN = (str, bytes, list, tuple, dict, set, frozenset, np.ndarray)

encode_parts = c_make_encoder(None, str, encode_basestring, None, ":", ",", False, False, False)
decode_at = JSONDecoder().scan_once
# What Spark says of an error, without what comes behind it: a plan of many pages, and stacks of Java.
without_plan = re.compile(r"(SQLSTATE: \w{5});?\n.*", re.DOTALL).sub
without_stack = re.compile(r"(\n+\s*(at )?[\w.$/<>]+\((\w+\.(java|scala)(:\d+)?|Native Method)\))+").sub
words_of = re.compile(r"[^\W\d]\w*").findall
quoted = re.compile(r"'([^']+)'").findall
without_addresses = re.compile(r" at 0x[0-9a-fA-F]+").sub
is_key = re.compile(r"[a-z_]+_[0-9a-f]{8}").fullmatch
is_plain_name = re.compile(r"[\w.-]+").fullmatch
in_container = re.compile(r"/mnt/data(?![\w.-])").sub


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
