"""A fake upstream that is no bottleneck. What a request names as its model says how it is answered.

`python tests/bench/origin.py PORT`. `GET /` tells what was asked and what is under way; `GET /finish` ends the streams
that are held open.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from email.utils import formatdate
from functools import partial

PACE = 1.0  # seconds between the chunks of a stream that is held open
TEXT = "from-the-origin "
_MODEL = re.compile(rb'"model"\s*:\s*"([^"]+)"')
_STREAM = re.compile(rb'"stream"\s*:\s*true')
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


def whole(status: int, body: bytes, kind: str = "application/json", **headers: str) -> bytes:
    """An answer of known length."""
    named = {
        "content-type": kind,
        "content-length": str(len(body)),
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode("latin-1") + body


def failure(message: str, encoding: str = "utf-8", ascii: bool = False, **fields: object) -> bytes:
    """An error object."""
    return json.dumps({"error": {"message": message, **fields}}, ensure_ascii=ascii).encode(encoding)


def piece(data: bytes) -> bytes:
    """A chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(data: object) -> bytes:
    return piece(b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n")


def delta(text: str | None, finish: str | None = None) -> bytes:
    """An event of a chat completion."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}
    return event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


MESSAGE = {"role": "assistant", "content": TEXT * 40}
DOCUMENT = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
}
OK = whole(200, json.dumps(DOCUMENT).encode())
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DONE = piece(b"data: [DONE]\n\n") + b"0\r\n\r\n"
STREAM = HEAD + b"".join(delta(f"{TEXT}{number}") for number in range(5)) + delta(None, "stop") + DONE
FLOOD = HEAD + delta(TEXT) + event({"choices": [], "x": "y" * 8_000_000}) + DONE  # for clients that do not read it
RATE = failure("Rate limit reached", type="rate_limit_error", code="rate_limit_exceeded")
QUOTA = "用户额度不足"
PAGE = b"<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
SPENT = failure("You exceeded your current quota, please check your plan.", code="insufficient_quota")
NOT_PACKED = b"\x1f\x8b\x08\x00" + b"this was never packed" * 8


def soon() -> bytes:
    until = formatdate(time.time() + 7, usegmt=True)
    return whole(503, failure("Service temporarily unavailable"), retry_after=until)


# Faults that can be hidden, for nothing of an answer has been seen yet. What they put on the wire.
ANSWERS: Mapping[str, bytes | Callable[[], bytes]] = {
    "quota-403": whole(403, failure(QUOTA, type="new_api_error")),
    "quota-escaped": whole(403, failure(QUOTA, ascii=True)),
    "quota-gbk": whole(403, failure(QUOTA, "gbk"), "application/json; charset=gbk"),
    "quota-400": whole(400, SPENT),
    "no-access": whole(403, failure("无权访问模型 x", type="new_api_error")),
    "limit": whole(429, RATE, retry_after="7"),
    "limit-days": whole(429, failure("Usage limit reached. Resets in 13 days")),
    "money": whole(402, failure("Insufficient credits")),
    "no-model": whole(404, failure("The model does not exist", code="model_not_found")),
    "error-500": whole(500, failure("The server had an error", type="server_error")),
    "page-502": whole(502, PAGE, "text/html"),
    "date-503": soon,
    "page-520": whole(520, PAGE, "text/html", server="cloudflare"),
    "busy-529": whole(529, failure("Overloaded", type="overloaded_error")),
    "inside-200": whole(200, failure("rate limited", code=429)),
    "page-200": whole(200, PAGE, "text/html"),
    "empty-200": whole(200, b""),
    "huge-500": whole(500, failure("x" * 2_000_000)),
    "bad-gzip": whole(200, NOT_PACKED, content_encoding="gzip"),
    "first-event": HEAD + event({"error": {"message": QUOTA, "code": 429}}) + DONE,
    "empty-stream": HEAD + b"0\r\n\r\n",
    "no-http": b"220 mail.example ready\r\n\r\n",
    "endless-head": b"HTTP/1.1 200 OK\r\n" + b"x-more: and more\r\n" * 20_000,
}
# The same, with a connection that ends or says nothing more behind it.
ENDS: Mapping[str, tuple[bytes, bool]] = {
    "closed": (b"", True),
    "reset-head": (b"HTTP/1.1 200 OK\r\ncontent-ty", True),
    "reset-body": (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{", True),
    "stalls": (b"", False),
    "stalls-open": (HEAD, False),
}
# Faults that show: content was passed on already.
MIDDLE: Mapping[str, tuple[bytes, bool | None]] = {
    "error-after": (HEAD + delta(TEXT) + event({"error": {"message": "overloaded", "code": 529}}) + b"0\r\n\r\n", None),
    "reset-after": (HEAD + delta(TEXT) + b"28\r\ndata: {", True),
    "stalls-after": (HEAD + delta(TEXT), False),
}
TRICKLE = "trickles"  # a byte at a time, of an event that has no end
HIDDEN = (*ANSWERS, *ENDS, TRICKLE)


class Origin(asyncio.Protocol):
    """One connection."""

    seen: Counter[str] = Counter()
    under_way = 0
    held: set[Origin] = set()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._buffer = b""
        self._number = 0
        self._busy = False  # an answer is not whole yet
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write"), "a stream's"
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self._over()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while not self._busy:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            length = _LENGTH.search(self._buffer, 0, end)
            total = end + 4 + (int(length[1]) if length else 0)
            if len(self._buffer) < total:
                return
            head, body, self._buffer = self._buffer[:end], self._buffer[end + 4 : total], self._buffer[total:]
            self._asked(head, body)

    def _asked(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET"):
            if b"/finish" in head[:16]:
                for one in tuple(self.held):
                    one.finish()
            told = {"seen": dict(self.seen), "under_way": Origin.under_way}
            self._write(whole(200, json.dumps(told).encode()))
            return
        found = _MODEL.search(body)
        model = found[1].decode() if found else "ok"
        self.seen[model] += 1
        answer = ANSWERS.get(model)
        if answer is not None:
            self._write(answer() if callable(answer) else answer)
        elif model in ENDS:
            self._begin(*ENDS[model])
        elif model in MIDDLE:
            sent, ends = MIDDLE[model]
            if ends is None:
                self._write(sent)
            else:
                self._begin(sent, ends)
        elif model == TRICKLE:
            self._begin(HEAD, False)
            self._timer = self._loop.call_later(
                0.05, partial(self._drip, b'data: {"choices": [{"delta": {"content": "')
            )
        elif model == "held":
            self._begin(HEAD, False)
            self.held.add(self)
            self._tick()
        elif model == "flood":
            self._write(FLOOD)
        else:
            self._write(STREAM if _STREAM.search(body) else OK)

    def _write(self, data: bytes) -> None:
        self._transport.write(data)

    def _begin(self, data: bytes, ends: bool) -> None:
        """Answer in part; then end the connection, or say nothing more."""
        self._busy = True
        Origin.under_way += 1
        if data:
            self._write(data)
        if ends:
            self._timer = self._loop.call_later(0.01, self._reset)

    def _reset(self) -> None:
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _drip(self, rest: bytes) -> None:
        self._write(piece(rest[:1] or b"x"))
        self._timer = self._loop.call_later(0.05, partial(self._drip, rest[1:]))

    def _tick(self) -> None:
        self._write(delta(f"{TEXT}{self._number}"))
        self._number += 1
        self._timer = self._loop.call_later(PACE, self._tick)

    def finish(self) -> None:
        """End a stream that is held open."""
        self._write(delta(None, "stop") + DONE)
        self._over()

    def _over(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._busy:
            self._busy = False
            self._number = 0
            Origin.under_way -= 1
        self.held.discard(self)


async def serve(port: int) -> None:
    """Listen until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Origin(loop), "127.0.0.1", port, backlog=2048)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve(int(sys.argv[1])))
    else:
        uvloop.run(serve(int(sys.argv[1])))
