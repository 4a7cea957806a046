#!/usr/bin/env python3
"""What a turn costs beside the model's time and the Python code itself.

    benches/turn.py path/to/csv-agent [runs]

A loopback server plays a model: five rounds, of which four call python_repl with a trivial cell. Its
first answer takes as long as a quick model's (FIRST_S), the others none. The figure is the wall-clock
time of the whole process less that second. The peer is the smallest loop that could do the same: a
Python script that imports pandas while it waits, sends the same five requests and runs the cells.
"""
import http.server
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FIRST_S = 1.0
ROUNDS = 5


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave in one packet, as a real server's do; else Nagle adds 40 ms

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        done = sum(1 for it in body["input"] if it.get("type") == "function_call_output")
        if done == 0:
            time.sleep(FIRST_S)
        if done + 1 < ROUNDS:
            item = {"type": "function_call", "id": f"fc_{done}", "call_id": f"c{done}", "status": "completed",
                    "name": "python_repl", "arguments": json.dumps({"code": f"x = {done}\nx + 1"})}
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
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


PEER = """
import json, sys, threading, urllib.request
started = threading.Thread(target=lambda: __import__("pandas")); started.start()
items, url = [{"type": "message", "role": "user", "content": "q"}], sys.argv[1] + "/responses"
while True:
    body = json.dumps({"model": "m", "input": items, "stream": False}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    output = json.load(urllib.request.urlopen(request))["output"]
    items += output
    calls = [it for it in output if it["type"] == "function_call"]
    if not calls:
        print(output[0]["content"][0]["text"]); break
    started.join()
    for call in calls:
        exec(json.loads(call["arguments"])["code"], {})
        items.append({"type": "function_call_output", "call_id": call["call_id"], "output": "1"})
"""


def timed(command, env, cwd):
    start = time.perf_counter()
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=60)
    seconds = time.perf_counter() - start - FIRST_S
    if done.returncode != 0 or "Done." not in done.stdout:
        sys.exit(f"{command[0]} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return seconds * 1000


def main():
    binary = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    managed = os.path.join(cache, "csv-agent")
    pythons = [os.path.join(managed, it, "bin", "python") for it in sorted(os.listdir(managed)) if it.startswith("python")]
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "t.csv"), "w") as file:
            file.write("a,b\n1,2\n3,4\n")
        env = {"PATH": os.environ["PATH"], "HOME": home, "XDG_CACHE_HOME": cache,
               "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-none"}
        subprocess.run([binary, "ingest", "-q", "t.csv"], env=env, cwd=home, check=True, capture_output=True)
        ours = [binary, "ask", "-q", "--fresh", "How much is it?"]
        peer = [next(it for it in pythons if os.path.exists(it)), "-c", PEER, url]
        timed(ours, env, home), timed(peer, env, home)
        pairs = [(timed(ours, env, home), timed(peer, env, home)) for _ in range(runs)]
    print("| | min ms | median ms | max ms |\n|---|--:|--:|--:|")
    for name, column in (("csv-agent", 0), ("bare Python loop", 1)):
        values = [it[column] for it in pairs]
        print(f"| {name} | {min(values):.0f} | {statistics.median(values):.0f} | {max(values):.0f} |")
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"\nratio, median of {runs} pairs: {ratio:.2f}")


if __name__ == "__main__":
    main()
