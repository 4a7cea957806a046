"""A loopback server that plays a model: it answers each request with the next of the rounds it was given."""
import contextlib
import http.server
import itertools
import json
import threading


def call(name, **arguments):
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}


def raw_call(name, arguments):
    return {"type": "function_call", "name": name, "arguments": arguments}


def python(code):
    return call("python_repl", code=code)


def table(df_name, logical_name):
    return call("send_data_to_ui_as_df", df_name=df_name, logical_name=logical_name)


def chart(df_name, logical_name, chart_type, x_field, *y_fields, **more):
    series = [it if isinstance(it, dict) else {"name": it, "y_field": it} for it in y_fields]
    spec = {"x_label": None, "y_label": None, "title": None, "note": None, **more}
    return call("send_chart_to_ui", df_name=df_name, logical_name=logical_name, chart_type=chart_type,
                x_field=x_field, series=series, **spec)


def text(words):
    return {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": words, "annotations": []}]}


def thought(words):
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": words}]}


def fails(status, message, **headers):
    return {"status": status, "message": message, "headers": headers}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    numbers = itertools.count()

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        rounds = self.server.rounds
        answer = rounds.pop(0) if rounds else [text("Nothing more.")]
        if isinstance(answer, dict):
            body = {"error": {"message": answer["message"], "type": "server_error"}}
            return self.send(answer["status"], "application/json", json.dumps(body), answer["headers"])
        items = []
        for item in answer:
            n = next(self.numbers)
            items.append({"id": f"it_{n}", "status": "completed", **item})
            if item["type"] == "function_call":
                items[-1]["call_id"] = f"call_{n}"
        usage = {"input_tokens": 4210, "input_tokens_details": {"cached_tokens": 3072}, "output_tokens": 187,
                 "output_tokens_details": {"reasoning_tokens": 64}, "total_tokens": 4397}
        response = {"id": "resp_1", "object": "response", "status": "completed", "model": asked["model"], "output": items,
                    "error": None, "incomplete_details": None, "usage": usage}
        events = [{"type": "response.output_item.done", "output_index": at, "item": it} for at, it in enumerate(items)]
        events.append({"type": "response.completed", "response": response})
        stream = "".join(f"event: {it['type']}\ndata: {json.dumps(it)}\n\n" for it in events)
        self.send(200, "text/event-stream", stream, {})

    def send(self, status, kind, payload, headers):
        payload = payload.encode()
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(payload)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve():
    """Yields the server: its `rounds` are what it answers next, its `url` goes into OPENAI_BASE_URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.rounds, server.url = [], f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
