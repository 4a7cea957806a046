"""The protocol: reads a command as one line, performs it, and answers with one line. `protocol.rs` is the other end."""

from os import _exit, getpid, read, write

PID = getpid()


COMMANDS = {"run": run, "load": load_into, "fetch": fetch, "find": find, "forget": forget, "keep": keep_aside,
            "save": save}


def perform(request):
    """Returns the outcome of a command, whatever the code does."""
    try:
        state.running = True
        try:
            if cluster is not None:
                renew_session()
            outcome = {"status": "ok", **COMMANDS[request["command"]](request)}
        except BaseException as error:
            outcome = failure(error)
        if IS_CONTAINER:  # a container keeps all frames and puts no output aside
            state.printed, state.printed_chars = [], 0
        else:
            put_printed_aside(outcome["result"])
            prune()
        state.running = False
    except BaseException as error:
        state.running = False
        interrupted = isinstance(error, Interrupted)
        text = ("interrupted at the deadline; the variables are kept" if interrupted
                else "the result cannot be shown: showing it raised another error")
        details = {"type": "TimeoutError" if interrupted else "RuntimeError", "message": text}
        outcome = {"status": "timeout" if interrupted else "error",
                   "result": {"kind": "error", "error": details, "text": text}}
    return outcome


def serve(request):
    """Performs one command and answers it."""
    state.calls += 1
    repair()
    take_ballast()
    outcome = perform(request)
    if getpid() != PID:
        _exit(0)  # the code forked and this is the child; only the parent answers
    repair()
    if not IS_CONTAINER:
        restore_preloaded()
    if state.notes:
        outcome["result"]["notes"] = [cut_end(it, 300) for it in state.notes[:8]]
        state.notes = []
    try:
        output[0].flush()
    except BaseException:
        output[0] = new_output()
    respond(request["id"], outcome)


def respond(identifier, message):
    """Ends the output of a command with a mark, then writes the response."""
    line = encode({"id": identifier, **message})
    if start["line_bytes"] <= len(line):
        text = "the result is too large to be sent"
        details = {"type": "MemoryError", "message": text}
        line = encode({"id": identifier, "status": "error",
                       "result": {"kind": "error", "error": details, "text": text}})
    write_all(OUTPUT, b"\0" + identifier.encode() + b"\0")
    write_all(RESPONSES, line + b"\n")


def write_all(number, content):
    while content:
        content = content[write(number, content):]


def requests():
    """Yields the commands; ends the process when csv-agent has closed the pipe."""
    rest = b""
    while True:
        while b"\n" not in rest:
            part = read(REQUESTS, 1 << 20)
            if not part:
                _exit(0)
            rest += part
        line, rest = rest.split(b"\n", 1)
        yield decode_at(line.decode(), 0)[0]
