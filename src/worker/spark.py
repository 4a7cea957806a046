"""The worker's way to the cluster: Spark's own client, over a descriptor instead of a network.

Part of the worker, which runs this text only where the session has datasets on a cluster. `start` is
what csv-agent says of the cluster, `number` the descriptor of the relay's stream.

Frames. Big endian: length of the rest, kind, number of the call, payload. The relay answers no more
messages than were asked for, so that what waits here is small however large the result is.

Threads. One reads the stream and one writes it, because the main thread can be interrupted anywhere, and
half a frame would end the stream. Both are there before any code runs. The main thread only waits on
queues of C, which lose nothing to an interrupt.
"""

import os
import sys
from base64 import b64decode
from builtins import __dict__ as BUILTINS
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timezone
from itertools import count
from json import loads
from math import isfinite
from os import read, write
from queue import SimpleQueue
from re import ASCII, compile as pattern
from struct import Struct
from time import monotonic
from uuid import uuid4
from warnings import filterwarnings

from _thread import stack_size, start_new_thread

# The package is also there as a part of all of Spark, which would look for Java.
os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"
# Without an address, `SparkSession.builder.getOrCreate()` would not look for the session that is there.
os.environ["SPARK_REMOTE"] = "sc://relay"
filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
# A main module without a file is taken for a run of Spark's own tests, here and in each later import.
sys.modules["__main__"].__file__ = "<worker>"
import pyspark.sql.connect.utils as checks  # noqa: E402

checks.check_dependencies = bool
del sys.modules["__main__"].__file__

import grpc  # noqa: E402
import pyspark.errors.utils as call_sites  # noqa: E402
import pyspark.sql.connect.proto as pb  # noqa: E402
import pyspark.sql.functions as F  # noqa: E402
from google.rpc.status_pb2 import Status  # noqa: E402
from pyspark.errors import PySparkException  # noqa: E402
from pyspark.logger import PySparkLogger  # noqa: E402
from pyspark.sql.connect.client import ChannelBuilder  # noqa: E402
from pyspark.sql.connect.client.reattach import (  # noqa: E402
    ExecutePlanResponseReattachableIterator as Reattachable)
from pyspark.sql.connect.client.retries import DefaultPolicy, RetryPolicyState  # noqa: E402
from pyspark.sql.connect.dataframe import DataFrame  # noqa: E402
from pyspark.sql.connect.plan import LogicalPlan  # noqa: E402
from pyspark.sql.connect.session import SparkSession  # noqa: E402

OPEN, MESSAGE, CLOSE, MORE, CANCEL = range(5)
ANSWER, END = 16, 17
HEAD = Struct(">IBI")
NUMBER = Struct(">I")
READ_BYTES = 1 << 20
# Answers of one call that may wait here. Spark makes them of about 4 MB.
ANSWERS_MAX = 4
# A server that does not answer is asked again for so long: one that restarts is back by then, and who
# waits for one that is gone is not kept waiting. The relay's own bound on connecting comes on top, twice.
RETRY_S = 8
STACK_BYTES = 512 * 1024
CODES = {it.value[0]: it for it in grpc.StatusCode}
SESSION_GONE = ("NO_ACTIVE_SESSION", "SESSION_CHANGED", "SESSION_CLOSED", "SESSION_NOT_FOUND",
                "server side session identifier")
UNFIT = ("CAST_INVALID_INPUT", "CANNOT_PARSE_TIMESTAMP", "CAST_OVERFLOW", "INVALID_FRACTION")
UTC = "spark.sql.session.timeZone"
# What a server before Spark 4.2 does not say of sending rows: it is sent them in one piece.
USUAL_SETTINGS = {"spark.sql.session.localRelationSizeLimit": "67108864",
                  "spark.sql.session.localRelationChunkSizeRows": "10000",
                  "spark.sql.session.localRelationChunkSizeBytes": "16777216",
                  "spark.sql.session.localRelationBatchOfChunksSizeBytes": "67108864"}

# --- The channel ----------------------------------------------------------------------------------


class RelayError(grpc.RpcError, grpc.Call):
    """How a call ended, if not well."""

    def __init__(self, code, message, details=b""):
        super().__init__(message)
        self._code, self._message = code, message
        self._details = details if self._says_the_same(details) else b""

    def _says_the_same(self, details):
        # The client refuses details that contradict what stands beside them.
        try:
            status = Status.FromString(details)
        except Exception:
            return False
        return (status.code, status.message) == (self._code.value[0], self._message)

    def __str__(self):
        return self._message

    def code(self):
        return self._code

    def details(self):
        return self._message

    def trailing_metadata(self):
        return (("grpc-status-details-bin", self._details),) if self._details else ()

    def initial_metadata(self):
        return ()

    def is_active(self):
        return False

    def time_remaining(self):
        return None

    def cancel(self):
        return False

    def add_callback(self, callback):
        return False


class Wire:
    """The stream to the relay, shared by all calls."""

    def __init__(self, number):
        self.number = number
        self.numbers = count(1)
        self.inboxes = {}  # number of the call → what has come for it
        self.outbox = SimpleQueue()
        self.is_closed = False
        before = stack_size(STACK_BYTES)
        start_new_thread(self._receive, ())
        start_new_thread(self._send, ())
        stack_size(before)

    def put(self, kind, call, payload=b""):
        self.outbox.put((HEAD.pack(5 + len(payload), kind, call), payload))

    def _send(self):
        try:
            while True:
                for part in self.outbox.get():
                    part = memoryview(part)
                    while part:
                        part = part[write(self.number, part):]
        except OSError:
            self._close()

    def _receive(self):
        try:
            while True:
                length, kind, call = HEAD.unpack(self._exactly(HEAD.size))
                inbox = self.inboxes.get(call)
                try:
                    item = kind, self._exactly(length - 5)
                except MemoryError as error:
                    item = None, error
                if inbox is not None:  # else it was cancelled
                    inbox.put(item)
        except (EOFError, OSError):
            pass
        self._close()

    def _exactly(self, n_bytes):
        n_read = 0
        try:
            content = bytearray(n_bytes)
        except MemoryError:
            while n_read < n_bytes:
                n_read += self._some(min(READ_BYTES, n_bytes - n_read), None)
            raise
        with memoryview(content) as view:
            while n_read < n_bytes:
                n_read += self._some(min(READ_BYTES, n_bytes - n_read), view[n_read:])
        return content

    def _some(self, n_bytes, target):
        part = read(self.number, n_bytes)
        if not part:
            raise EOFError
        if target is not None:
            target[: len(part)] = part
        return len(part)

    def _close(self):
        self.is_closed = True
        for inbox in list(self.inboxes.values()):
            inbox.put(CLOSED)


CLOSED = (END, b'{"code": 14, "message": "the relay to the cluster was closed"}')


class Call:
    """One call: its answers, as they come."""

    def __init__(self, wire, method, messages, deserialize):
        self.wire, self.deserialize = wire, deserialize
        self.number, self.inbox = next(wire.numbers), SimpleQueue()
        self.is_over = False
        wire.inboxes[self.number] = self.inbox
        if wire.is_closed:
            self.inbox.put(CLOSED)
            return
        try:
            wire.put(OPEN, self.number, method.encode())
            wire.put(MORE, self.number, NUMBER.pack(ANSWERS_MAX))
            for message in messages:
                if start["sent_bytes"] < len(message):
                    raise RelayError(grpc.StatusCode.RESOURCE_EXHAUSTED,
                                     f"{len(message) >> 20} MB are too much to send to the cluster at "
                                     "once; large data must already be there")
                wire.put(MESSAGE, self.number, message)
            wire.put(CLOSE, self.number)
        except BaseException:
            self.cancel()
            raise

    def __iter__(self):
        return self

    def __next__(self):
        if self.is_over:
            raise StopIteration
        try:
            kind, payload = self.inbox.get()
            if kind == ANSWER:
                answer = self.deserialize(bytes(payload))
                if type(answer) is pb.ExecutePlanResponse and answer.HasField("result_complete"):
                    self._end()  # the client does not wait for the end behind it
                else:
                    self.wire.put(MORE, self.number, NUMBER.pack(1))
                return answer
            if kind == END:
                self._end()
                end = loads(bytes(payload).decode())
                if end["code"] == 0:
                    raise StopIteration
                details = b64decode(end.get("details") or "")
                code = CODES.get(end["code"], grpc.StatusCode.UNKNOWN)
                raise RelayError(code, end["message"], details)
            raise payload if isinstance(payload, MemoryError) else RelayError(
                grpc.StatusCode.INTERNAL, "the relay sent something that is not an answer")
        except BaseException:
            self.cancel()  # an interrupt among them: the job need not go on
            raise

    def only(self):
        """Returns the answer of a call that has one."""
        answers = list(self)
        if len(answers) != 1:
            raise RelayError(grpc.StatusCode.INTERNAL, f"{len(answers)} answers arrived instead of one")
        return answers[0]

    def cancel(self):
        if not self.is_over:
            self._end()
            self.wire.put(CANCEL, self.number)

    def _end(self):
        self.is_over = True
        self.wire.inboxes.pop(self.number, None)

    def __del__(self):
        self.cancel()


class Channel(grpc.Channel):
    """What the client takes for a connection."""

    def __init__(self, wire):
        self.wire = wire
        self.prepare = None  # runs before the first call that does something

    def _calls(self, is_stream, has_stream, method, serialize, deserialize):
        def call(request, *_, **__):
            if self.prepare is not None and not method.endswith("/Config"):
                prepare, self.prepare = self.prepare, None
                try:
                    prepare()
                except BaseException:
                    self.prepare = prepare
                    raise
            messages = map(serialize, request if is_stream else (request,))
            made = Call(self.wire, method, messages, deserialize)
            return made if has_stream else made.only()
        return call

    def unary_unary(self, method, request_serializer=None, response_deserializer=None, *_, **__):
        return self._calls(False, False, method, request_serializer, response_deserializer)

    def unary_stream(self, method, request_serializer=None, response_deserializer=None, *_, **__):
        return self._calls(False, True, method, request_serializer, response_deserializer)

    def stream_unary(self, method, request_serializer=None, response_deserializer=None, *_, **__):
        return self._calls(True, False, method, request_serializer, response_deserializer)

    def stream_stream(self, method, request_serializer=None, response_deserializer=None, *_, **__):
        return self._calls(True, True, method, request_serializer, response_deserializer)

    def subscribe(self, callback, try_to_connect=False):
        pass

    def unsubscribe(self, callback):
        pass

    def close(self):
        pass  # the stream outlives a session that was stopped

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Builder(ChannelBuilder):
    def __init__(self, channel, user):
        super().__init__(params={ChannelBuilder.PARAM_USER_ID: user})
        self.channel = channel

    def toChannel(self):
        return self.channel

    @property
    def host(self):
        return "relay"


class Patience(DefaultPolicy):
    """Tries again as the client does, but not for ten minutes."""

    def __init__(self):
        super().__init__(max_backoff=2_000)

    def to_state(self):
        return PatienceState(self)


class PatienceState(RetryPolicyState):
    def __init__(self, policy):
        super().__init__(policy)
        self.first = None

    def can_retry(self, exception):
        now = monotonic()
        self.first = self.first or now
        return not wire.is_closed and now - self.first < RETRY_S and super().can_retry(exception)


class OneThread(ThreadPoolExecutor):
    """Where the client tells the server, beside the work, what it has received.

    Its own pool has a thread for each processor, and they may not all be started here.
    """

    def __init__(self):
        super().__init__(max_workers=1)
        self.submit(int).result()

    def shutdown(self, *_, **__):
        pass


# --- The session ----------------------------------------------------------------------------------


def new_session():
    """Returns a session of Spark. Nothing is sent before it is used."""
    channel = Channel(wire)
    made = SparkSession(Builder(channel, start["user"]))
    client = made._client
    # So that an hour of the day is the same wherever the server stands.
    channel.prepare = lambda: made.conf.set(UTC, "UTC")
    client.set_retry_policies([Patience()])
    # The client's own questions fail as a whole where the server is too old for one of the settings.
    client.get_config_dict = lambda *keys: settings(client, keys)
    client.get_configs = lambda *keys: tuple(settings(client, keys).values())
    # The relay reads plans. Compressed, they would be read twice.
    client._plan_compression_threshold, client._plan_compression_algorithm = -1, "NONE"
    # Stacks of Java say nothing to those who read the message.
    client._display_server_stack_trace = lambda: False
    Reattachable._release_thread_pool_instance = pool
    SparkSession._default_session = made
    SparkSession._active_session.session = made
    return made


def settings(client, keys):
    """Returns settings of the server by their names; nothing for one that it does not know."""
    asked = pb.ConfigRequest.Operation(get_option=pb.ConfigRequest.GetOption(keys=keys))
    found = dict(client.config(asked).pairs)
    return {key: USUAL_SETTINGS.get(key) if found.get(key) is None else found[key] for key in keys}


def session():
    """Returns the session, a new one if code or the server has ended the last."""
    if sessions[0].is_stopped:
        sessions[0] = new_session()
    return sessions[0]


def is_frame(value):
    return issubclass(type(value), DataFrame)


def advice_on(error, message):
    """Returns what to do about an error of Spark, where its own message does not say it."""
    if not isinstance(error, (PySparkException, grpc.RpcError)):
        return None
    if any(it in message for it in SESSION_GONE):
        return "The cluster has ended the session: load the datasets again, frames made before are gone."
    if any(it in message for it in UNFIT):
        return ("A value does not fit the type it is cast to: use try_cast(), which gives null then, or "
                "look at it as text with load(name, text=[column]).")
    return None


# --- Datasets -------------------------------------------------------------------------------------


def load(name, columns, text):
    """Returns a dataset as a lazy frame with typed columns."""
    return reading["read_remote"](session(), name, start["datasets"][name], columns, text)


def describe(frame):
    """Returns what can be said of a frame without a job: names and types."""
    fields = frame.schema.fields
    return [it.name for it in fields], [it.dataType.simpleString() for it in fields]


def column(name):
    return F.col(reading["quoted"](name))


def head(frame, n_rows):
    """Returns the first rows, and how many there are in all. They are counted only if there are more."""
    first = frame.limit(n_rows + 1).toPandas()
    if len(first) <= n_rows:
        return first, len(first)
    return first.iloc[:n_rows], frame.count()


# --- Find -----------------------------------------------------------------------------------------
#
# The rules are those of `dataset/find.rs`, with which local datasets are searched.

# Digits are those of ASCII. One way only to read a number: a long text takes no longer for it.
is_number = pattern(r"[+-]?(inf|infinity|(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?)", ASCII).fullmatch
is_whole_number = pattern(r"[+-]?\d+", ASCII).fullmatch
is_day = pattern(r"\d{4}-\d\d-\d\d", ASCII).fullmatch
is_moment = pattern(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d([.,]\d{1,6})?)?(Z|[+-]\d\d(:?\d\d)?)?",
                    ASCII).fullmatch
# Digits of 2^63; a number of more is none of an int64. Python refuses to read thousands.
WHOLE_DIGITS_MAX = 19
WORDS = {"true": True, "yes": True, "y": True, "t": True, "on": True,
         "false": False, "no": False, "n": False, "f": False, "off": False}


def find(name, value):
    """Returns the columns in which some cell equals a value: column, type, how often. One job."""
    dataset = start["datasets"][name]
    value = value.strip()
    frame = reading["read_remote"](session(), name, dataset, None, (), is_strict=False)
    places = []
    for at, about in enumerate(dataset["columns"]):
        cell = column(about["name"])
        is_it = equals(cell, about["dtype"], value)
        if is_it is not None:
            places.append((about, F.count(F.when(is_it, 1)).alias(f"c{at}")))
    if not places:
        return []
    counts = frame.agg(*[it for _, it in places]).collect()[0]
    found = [{"column": about["name"], "dtype": about["dtype"], "count": n}
             for (about, _), n in zip(places, counts)]
    return [it for it in found if it["count"]]


def equals(cell, dtype, value):
    """Returns the condition that a cell equals a value; nothing if its type has no such value."""
    if dtype == "string":
        text = value.lower()
        same = F.lower(cell) == text
        around = F.regexp_replace(F.lower(cell), r"^[\s\p{Z}]+|[\s\p{Z}]+$", "") == text
        return same | F.contains(F.lower(cell), F.lit(text)) & around if text else around
    if dtype == "bool":
        word = WORDS.get(value.lower())
        return None if word is None else cell == F.lit(word)
    if dtype in ("int64", "float64"):
        amount = amount_of(value)[dtype]
        return None if amount is None else cell == F.lit(amount)
    if dtype in ("date", "timestamp", "timestamp_utc"):
        moment = moment_of(value, dtype)
        return None if moment is None else cell == F.lit(moment[0]).cast(moment[1])
    return None


def amount_of(value):
    """Returns a number as each type has it, where it is exactly that."""
    none = {"int64": None, "float64": None}
    if not is_number(value.lower()):
        return none
    if is_whole_number(value) and len(value.lstrip("+-0")) <= WHOLE_DIGITS_MAX:
        sign = "-" if value.startswith("-") else ""
        whole = int(sign + (value.lstrip("+-0") or "0"))
        inexact = float(whole)
        if not -2**63 <= whole < 2**63:
            return {"int64": None, "float64": inexact}
        return {"int64": whole, "float64": inexact if int(inexact) == whole else None}
    number = float(value)
    is_whole = isfinite(number) and number == int(number) and abs(number) < 2**63
    return {"int64": int(number) if is_whole else None, "float64": number}


def moment_of(value, dtype):
    """Returns a day or a time as text that Spark reads, and its type there."""
    if is_day(value):
        try:
            moment = datetime.combine(date.fromisoformat(value), datetime.min.time())
        except ValueError:
            return None
    elif is_moment(value):
        try:
            moment = datetime.fromisoformat(value.replace(",", "."))
        except ValueError:
            return None
    else:
        return None
    if dtype == "timestamp_utc":
        moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        return moment.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%fZ"), "timestamp"
    if moment.tzinfo is not None:
        return None
    if dtype == "timestamp":
        return moment.strftime("%Y-%m-%d %H:%M:%S.%f"), "timestamp_ntz"
    return (moment.strftime("%Y-%m-%d"), "date") if moment.time() == datetime.min.time() else None


# --- Frames between processes ---------------------------------------------------------------------
#
# A frame is kept as its plan. Within a plan, columns name the frames that they are of by numbers, which
# the client gives out from 0 in each process; so restored plans get new ones, the same for the same frame.

# What is only in the server's session, and gone with it.
UPLOADED = ("cached_local_relation", "chunked_cached_local_relation", "cached_remote_relation")
GENERATION = uuid4().hex
renumbered = {}  # (generation, number) → number here


def keep(frame):
    """Returns a frame as bytes; nothing if a part of it is only in the server's session."""
    plan = frame._plan.to_proto(frame._session.client)
    if any(True for _ in messages(plan, UPLOADED)):
        return None
    return plan.SerializeToString(deterministic=True)


def restore(content, generation):
    """Returns the frame of a process that called itself `generation`."""
    plan = pb.Plan.FromString(content)
    for message in messages(plan, ("plan_id",)):
        key = generation, message.plan_id
        if key not in renumbered:
            renumbered[key] = LogicalPlan._fresh_plan_id()
        message.plan_id = renumbered[key]
    return DataFrame(Saved(plan.root), session())


def messages(message, names):
    """Yields the messages within a message that have a field of one of these names."""
    waiting = [message]
    while waiting:
        message = waiting.pop()
        for field, value in message.ListFields():
            if field.name in names:
                yield message
            if field.message_type is None:
                continue
            if field.message_type.GetOptions().map_entry:
                value = [it for it in value.values() if hasattr(it, "ListFields")]
            elif hasattr(value, "ListFields"):
                value = [value]
            waiting.extend(value)


class Saved(LogicalPlan):
    """A plan that is there already."""

    def __init__(self, relation):
        super().__init__(None)
        self.relation = relation
        self._root_plan_id = relation.common.plan_id

    def plan(self, session):
        return self.relation

    def print(self, indent=0):
        return f"{' ' * indent}<Saved>\n"

    def _repr_html_(self):
        return "<b>Saved</b>"


# Else the first column that is named asks the server whether to send along where the code names columns.
call_sites._enable_debugging_cache = False
# What the client writes of an error beside raising it.
for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
    PySparkLogger.getLogger(name).disabled = True
reading = {"__name__": "reading", "__builtins__": dict(BUILTINS)}
exec(compile(start["reading"], "<reading>", "exec"), reading)
DataFrame.toPandas = reading["to_pandas"]
wire = Wire(number)
pool = OneThread()
sessions = [new_session()]
