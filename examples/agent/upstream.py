"""Two upstreams without a key or a model: a relay that says 403 for a quota that refills, and one that is well.

`python upstream.py RELAY_PORT MAIN_PORT`. The second one speaks Chat Completions, Responses, Messages and Gemini, streamed
or not. Each request it is asked to answer is a line on stdout.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = ("Hello ", "from the ", "second account.")
TEXT = "".join(WORDS)
QUOTA = {"error": {"message": "用户额度不足", "type": "new_api_error"}}


def chat(stream):
    """Chat Completions."""
    base = {"id": "c1", "created": 1, "model": "some-model"}
    if not stream:
        choice = {"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}
        return {**base, "object": "chat.completion", "choices": [choice], "usage": USAGE_OPENAI}
    base["object"] = "chat.completion.chunk"

    def chunk(delta, finish=None):
        return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    first = chunk({"role": "assistant", "content": ""})
    return [first, *(chunk({"content": word}) for word in WORDS), chunk({}, "stop"), (None, "[DONE]")]


def responses(stream):
    """Responses."""
    part = {"type": "output_text", "text": TEXT, "annotations": []}
    item = {"id": "m1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    whole = {"id": "r1", "object": "response", "created_at": 1, "model": "some-model", "status": "completed"}
    whole |= {"output": [item], "usage": {"input_tokens": 1, "output_tokens": 3, "total_tokens": 4}}
    if not stream:
        return whole
    at = {"item_id": "m1", "output_index": 0, "content_index": 0}
    events = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **at, "delta": word} for word in WORDS),
        {"type": "response.output_text.done", **at, "text": TEXT},
        {"type": "response.content_part.done", **at, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return [(one["type"], {**one, "sequence_number": number}) for number, one in enumerate(events)]


def messages(stream):
    """Messages."""
    usage = {"input_tokens": 1, "output_tokens": 3}
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "some-model", "stop_sequence": None}
    if not stream:
        return {**whole, "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn", "usage": usage}
    deltas = ({"type": "text_delta", "text": word} for word in WORDS)
    events = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return [(one["type"], one) for one in events]


def gemini(stream):
    """Gemini."""

    def answer(text, finish=None):
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
        if finish is not None:
            candidate["finishReason"] = finish
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 3, "totalTokenCount": 4}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "some-model"}

    if not stream:
        return answer(TEXT, "STOP")
    return [(None, answer(word, "STOP" if word == WORDS[-1] else None)) for word in WORDS]


USAGE_OPENAI = {"prompt_tokens": 1, "completion_tokens": 3, "total_tokens": 4}
WIRES = {"/chat/completions": chat, "/responses": responses, "/messages": messages}


class Main(BaseHTTPRequestHandler):
    """The one that is well."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        stream = asked.get("stream") is True or path.endswith(":streamGenerateContent")
        if path.endswith(("/count_tokens", ":countTokens")):
            return self.send({"input_tokens": 1, "totalTokens": 1})
        wire = next((one for end, one in WIRES.items() if path.endswith(end)), gemini)
        print(f"main: {self.path} stream={stream} {self.headers.get('user-agent', '-')[:60]}", flush=True)
        answer = wire(stream)
        return self.events(answer) if stream else self.send(answer)

    def send(self, document, status=200):
        body = json.dumps(document, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def events(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for name, data in events:
            line = data if isinstance(data, str) else json.dumps(data)
            text = (f"event: {name}\n" if name else "") + f"data: {line}\n\n"
            self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_):
        """Say nothing more."""


class Relay(Main):
    """The one whose quota is used up."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        print(f"relay: {self.path} 403", flush=True)
        self.send(QUOTA, 403)


if __name__ == "__main__":
    for port, handler in zip(sys.argv[1:3], (Relay, Main), strict=True):
        server = ThreadingHTTPServer(("127.0.0.1", int(port)), handler)
        threading.Thread(target=server.serve_forever, daemon=False).start()
