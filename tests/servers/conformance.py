#!/usr/bin/env python3
"""Runs the protocol's conformance suite, which speaks HTTP alone, in front of a server on stdio.

    conformance.py SERVER ... -- SUITE ...

The suite gets the address as its last argument. Messages go through as they are, but for the names of what only the
suite's own server has. A session of 2025 has a process of its own. Requests of 2026, which have no session, share one.
"""
import itertools
import json
import queue
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SPLIT = sys.argv.index("--")
SERVER, SUITE = sys.argv[1:SPLIT], sys.argv[SPLIT + 1:]
# The statuses of the errors of 2026. Before, an error comes with 200.
STATUSES = {-32700: 400, -32600: 400, -32602: 400, -32601: 404, -32020: 400, -32021: 400, -32022: 400}

# What stands in for the tools, resources and prompts that the suite asks for. The session has the dataset `data123`,
# and a chart in turn 1; the directory has `open.csv`, whose dates can be read in two ways.
ASK_FIRST = {"name": "ingest", "arguments": {"paths": ["open.csv"], "if_exists": "replace"}}
COUNT = "select product, count(*) as n from data123 group by product"
AT_ONCE = {"name": "datasets", "arguments": {}}
STAND_INS = {
    "test_simple_text": {"name": "query", "arguments": {"sql": COUNT}},
    "test_error_handling": {"name": "query", "arguments": {"sql": "select nope from data123"}},
    "test_image_content": {
        "name": "chart", "arguments": {"sql": COUNT, "type": "bar", "x": "product", "y": "n"}},
    "test_elicitation": ASK_FIRST,
    "test_input_required_result_elicitation": ASK_FIRST,
    # The suite waits for these for half a second.
    "test_logging_tool": AT_ONCE,
    "test_streaming_elicitation": AT_ONCE,
    "test_simple_prompt": {"name": "profile", "arguments": {"file": "data123"}},
    "test_prompt_with_arguments": {"name": "compare", "arguments": {"old": "testValue1", "new": "testValue2"}},
    "test://static-text": {"uri": "csv-agent://datasets/data123/head"},
    "test://static-binary": {"uri": "csv-agent://turns/1/charts/total_revenue_by_product.png"},
    "test://template/123/data": {"uri": "csv-agent://datasets/data123/schema"},
}


class Process:
    """A server. Clients of a shared one have the same ids, so that it gets others."""

    def __init__(self):
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(SERVER, stdin=pipe, stdout=pipe, text=True, encoding="utf-8")
        self.ids = itertools.count(1)
        self.lock = threading.Lock()
        self.waiting = {}
        threading.Thread(target=self.read).start()

    def read(self):
        for line in self.child.stdout:
            message = json.loads(line)
            if "method" in message:
                # What answers nothing goes to the call that began last.
                waiting = list(self.waiting.values())[-1:]
            else:
                waiting = [self.waiting.pop(message["id"])]
            for it in waiting:
                it.put(message)

    def send(self, message):
        with self.lock:
            self.child.stdin.write(json.dumps(message) + "\n")
            self.child.stdin.flush()

    def ask(self, request):
        """Yields what the server says, up to its answer."""
        own = next(self.ids)
        found = self.waiting[own] = queue.Queue()
        self.send({**request, "id": own})
        for message in iter(found.get, None):
            if "method" not in message:
                yield {**message, "id": request["id"]}
                return
            yield message

    def end(self):
        self.child.stdin.close()
        self.child.wait()


class Handler(BaseHTTPRequestHandler):
    processes = {None: Process()}

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        params = message.get("params", {})
        params.update(STAND_INS.get(params.get("name") or params.get("uri"), {}))
        session, new = self.headers.get("Mcp-Session-Id"), None
        if message.get("method") == "initialize" and "_meta" not in params:
            session = new = uuid.uuid4().hex
            self.processes[new] = Process()
        if session not in self.processes:
            return self.answer(404)
        process = self.processes[session]
        if "id" not in message or "method" not in message:
            process.send(message)
            return self.answer(202)
        said = process.ask(message)
        first = next(said)
        if "method" not in first:
            code = first.get("error", {}).get("code")
            return self.answer(200 if session else STATUSES.get(code, 200), first, new)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for it in itertools.chain([first], said):
            self.wfile.write(f"event: message\ndata: {json.dumps(it)}\n\n".encode())
            self.wfile.flush()

    def do_DELETE(self):
        process = self.processes.pop(self.headers.get("Mcp-Session-Id"), None)
        if process:
            process.end()
        self.answer(200 if process else 404)

    def do_GET(self):
        self.answer(405)

    def answer(self, status, message=None, session=None):
        body = json.dumps(message).encode() if message else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


front = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=front.serve_forever, daemon=True).start()
ended = subprocess.run([*SUITE, f"http://127.0.0.1:{front.server_port}/mcp"])
front.shutdown()
for it in Handler.processes.values():
    it.end()
sys.exit(ended.returncode)
