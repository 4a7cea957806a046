"""A loopback server that plays a model by a script: each of its answers calls one tool, the last says it is done."""
import contextlib
import http.server
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait

LIFE_S = 20  # a call that is not known by then is awaited with signs of life
FIRST_S = 1.0  # the first answer takes as long as a quick model's, the others no time; half of it is its arguments


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave in one packet, as a real server's do; else Nagle adds 40 ms

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        done = sum(1 for it in body["input"] if it.get("type") == "function_call_output")
        is_begun = False
        if done == 0 and self.server.first_s:
            time.sleep(self.server.first_s / 2)
            if body.get("stream") and self.server.calls:
                # The name of the tool comes first, and its arguments as they are written.
                self.begin("text/event-stream", "transfer-encoding", "chunked")
                is_begun = True
                item = {"type": "function_call", "id": "fc_0", "call_id": "c0", "status": "in_progress",
                        "name": self.server.calls[0][0], "arguments": ""}
                added = {"type": "response.output_item.added", "output_index": 0, "item": item}
                self.chunk(f"event: {added['type']}\ndata: {json.dumps(added)}\n\n".encode())
            time.sleep(self.server.first_s / 2)
        if done < len(self.server.calls):
            with ThreadPoolExecutor(1) as pool:
                call = pool.submit(self.server.calls.__getitem__, done)
                while body.get("stream") and not wait([call], LIFE_S).done:
                    if not is_begun:
                        self.begin("text/event-stream", "transfer-encoding", "chunked")
                        is_begun = True
                    self.chunk(b": wait\n\n")
            name, arguments = call.result()
            item = {"type": "function_call", "id": f"fc_{done}", "call_id": f"c{done}", "status": "completed",
                    "name": name, "arguments": json.dumps(arguments)}
        else:
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
        response = {"id": "resp_1", "object": "response", "status": "completed", "model": body["model"],
                    "output": [item], "error": None, "incomplete_details": None,
                    "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}
        if body.get("stream"):
            events = [{"type": "response.output_item.done", "output_index": 0, "item": item},
                      {"type": "response.completed", "response": response}]
            payload = "".join(f"event: {it['type']}\ndata: {json.dumps(it)}\n\n" for it in events).encode()
            kind = "text/event-stream"
        else:
            payload, kind = json.dumps(response).encode(), "application/json"
        if is_begun:
            self.chunk(payload)
            self.chunk(b"")
        else:
            self.begin(kind, "content-length", str(len(payload)))
            self.wfile.write(payload)

    def begin(self, kind, name, value):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header(name, value)
        self.end_headers()

    def chunk(self, content):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
        self.wfile.flush()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(calls, first_s=FIRST_S):
    """Answers the requests of each turn with `calls`, (tool, arguments) each; yields the base URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.calls, server.first_s = calls, first_s
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def tool_results(process):
    """Yields (seconds, result) of each tool call of a turn whose events are read as they come. A call that
    fails, or a turn, ends the program."""
    called = 0.0
    for line in process.stdout:
        now = time.perf_counter()
        if b'"type":"tool_call"' in line:
            called = now
        elif b'"type":"tool_result"' in line:
            event = json.loads(line)
            if event["status"] != "ok":
                sys.exit(f"a call failed: {event}")
            yield now - called, event["result"]
    if process.wait() != 0:
        sys.exit(f"csv-agent failed with {process.returncode}")


def cache_home():
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


def environment(home, url):
    """Nothing of the user's but the managed Python environment."""
    return {"PATH": os.environ["PATH"], "HOME": home, "XDG_CACHE_HOME": cache_home(),
            "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-none"}
