"""Streams: bytes to events, and what an event is before anything is committed: content, an error, filler, the end.

Server-sent events (WHATWG HTML section 9.2), AWS event-stream frames, and newline-delimited JSON. Exact: the `raw` of
the events and the `rest` are the bytes that were fed, in order.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .answer import has_content
from .envelope import Envelopes
from .literal import MISSING, parse

EVENT_LIMIT = 1024 * 1024  # bytes of one event; a longer one is handed on in pieces
TERMINATORS = frozenset({"message_stop", "response.completed", "response.incomplete", "response.done"})
FRAMING = frozenset({"id", "object", "created", "model", "choices", "candidates", "usage", "usageMetadata", "error"})


class Sign(Enum):
    """What an event is to a client that waits for an answer."""

    CONTENT = "content"
    ERROR = "error"
    FILLER = "filler"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `data` is what it says, `raw` the bytes it was sent as, blank line included."""

    name: str
    data: bytes
    raw: bytes

    def document(self) -> Any:
        """The parsed data; `literal.MISSING` where it is not JSON."""
        return parse(self.data.decode("utf-8", "replace")) if self.data else MISSING


class Splitter:
    """Cuts the bytes of one stream into events, however they arrive."""

    __slots__ = ("_buffer", "_end", "_read", "_scanned")

    def __init__(self, content_type: str = "") -> None:
        self._buffer = bytearray()
        self._scanned = 0  # no event ends before this offset
        kind = content_type.partition(";")[0].strip().lower()
        self._end, self._read = _GRAMMARS.get(kind, _SSE)

    @property
    def rest(self) -> bytes:
        """What was fed and is not yet a whole event."""
        return bytes(self._buffer)

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that are whole now."""
        buffer = self._buffer
        buffer += chunk
        events = []
        start = 0
        while (end := self._end(buffer, start, max(start, self._scanned))) > 0:
            events.append(self._read(bytes(buffer[start:end])))
            start = end
        del buffer[:start]
        self._scanned = max(0, len(buffer) - 3)
        if len(buffer) > EVENT_LIMIT:
            events += self.finish()
        return events

    def finish(self) -> list[Event]:
        """What is left, as an event: an error sent last often lacks its blank line."""
        if not self._buffer:
            return []
        raw = bytes(self._buffer)
        self._buffer.clear()
        self._scanned = 0
        return [self._read(raw)]


def split(data: bytes, content_type: str = "") -> list[Event]:
    """The events of a recorded stream."""
    splitter = Splitter(content_type)
    return splitter.feed(data) + splitter.finish()


def judge(event: Event, envelopes: Envelopes, spoken: bool = False) -> Sign:
    """What an event is. An event that ends a stream may hold the whole answer: it is DONE all the same.

    `spoken`: content has come before, so that a bare remark is no failure.
    """
    return judge_document(event, event.document(), envelopes, spoken)


def judge_document(event: Event, document: Any, envelopes: Envelopes, spoken: bool = False) -> Sign:
    """The same, where the event's document is at hand."""
    if event.name in envelopes.error_events:
        return Sign.ERROR
    if document is MISSING:
        data = event.data.strip()
        return Sign.DONE if data == b"[DONE]" else Sign.CONTENT if data else Sign.FILLER
    if envelopes.fails(document, spoken) or envelopes.finish(document, spoken=True):
        return Sign.ERROR
    if isinstance(document, dict):
        return _judge_object(document)
    return Sign.CONTENT if has_content(document) or (isinstance(document, str) and document) else Sign.FILLER


def _judge_object(document: dict[str, Any]) -> Sign:
    kind = document.get("type")
    if isinstance(kind, str) and kind in TERMINATORS:
        return Sign.DONE
    if has_content(document):
        return Sign.CONTENT
    if not document or kind is not None or not FRAMING.isdisjoint(document):
        return Sign.FILLER
    return Sign.CONTENT  # no wire we know: nothing to wait for


def error_event(events: Iterable[Event], envelopes: Envelopes) -> Event | None:
    """The event of a stream that says it failed."""
    return next((event for event in events if judge(event, envelopes) is Sign.ERROR), None)


_STREAM_START = re.compile(r"\ufeff?\s*(?:data|event|id|retry)?:")


def is_stream(text: str, content_type: str) -> bool:
    """Whether a body is server-sent events, whatever it is called; JSON called a stream is not."""
    if _STREAM_START.match(text):
        return True
    return "text/event-stream" in content_type.lower() and text.lstrip()[:1] not in ("{", "[", "<")


# --- grammars: where the first event in the buffer ends (0: not yet), and what it says

_LINE_ENDS = re.compile(rb"[\r\n]+")
_BOM = b"\xef\xbb\xbf"


def _sse_end(buffer: bytearray, start: int, scanned: int) -> int:
    """Behind the first two line ends, or more, that follow each other. Found by `find`: an event may be very long."""
    at = scanned
    while True:
        line = buffer.find(b"\n", at)
        bare = buffer.find(b"\r\r", at, line if line >= 0 else len(buffer))
        if bare >= 0 or (line >= 0 and buffer.startswith((b"\n", b"\r"), line + 1)):
            found = _LINE_ENDS.match(buffer, bare if bare >= 0 else line)
            assert found is not None, "it stands there"
            return found.end()
        if line < 0:
            return 0
        at = line + 1


def _sse(raw: bytes) -> Event:
    name = ""
    data: list[bytes] = []
    loose: list[bytes] = []
    for line in raw.removeprefix(_BOM).rstrip(b"\r\n").splitlines():
        if line.startswith(b"data:"):
            data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b"event:"):
            name = line[6:].strip().decode("utf-8", "replace")
        elif line[:1] in (b"{", b"}", b"[", b"]", b" ", b"\t", b'"'):  # bare JSON, where a server forgot `data:`
            loose.append(line)
    if not data and loose and loose[0][:1] in (b"{", b"["):
        data = loose
    return Event(name, b"\n".join(data), raw)


def _line_end(buffer: bytearray, start: int, scanned: int) -> int:
    return buffer.find(b"\n", scanned) + 1


def _line(raw: bytes) -> Event:
    return Event("", raw.strip(), raw)


def _frame_end(buffer: bytearray, start: int, scanned: int) -> int:
    if len(buffer) - start < 16:
        return 0
    length = int.from_bytes(buffer[start : start + 4], "big")
    if not 16 <= length <= EVENT_LIMIT:
        return len(buffer)  # not a frame: nothing after it can be trusted either
    return start + length if len(buffer) - start >= length else 0


def _frame(raw: bytes) -> Event:
    """An AWS event-stream message: an exception becomes an error event, a chunk the document inside it."""
    headers_end = 12 + int.from_bytes(raw[4:8], "big")
    payload = raw[headers_end:-4]
    headers = _frame_headers(raw[12:headers_end])
    document = parse(payload.decode("utf-8", "replace"))
    exception = headers.get(":exception-type") or headers.get(":error-code")
    if exception:
        said = document if isinstance(document, dict) else {"message": headers.get(":error-message", "")}
        return Event("exception", json.dumps({"__type": exception, **said}).encode(), raw)
    if isinstance(document, dict) and isinstance(document.get("bytes"), str):
        try:
            payload = b64decode(document["bytes"], validate=True)
        except ValueError:
            return Event("", payload, raw)
    return Event(headers.get(":event-type", "") if payload else "", payload, raw)


_WIDTHS = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # bytes of a header value by its type
_TEXT = 7


def _frame_headers(data: bytes) -> dict[str, str]:
    """The text headers of a message; where they break off, those before."""
    headers = {}
    at = 0
    while at + 1 < len(data):
        name = data[at + 1 : at + 1 + data[at]].decode("utf-8", "replace")
        at += 1 + data[at]
        kind = data[at] if at < len(data) else -1
        at += 1
        if kind in (6, _TEXT):
            length = int.from_bytes(data[at : at + 2], "big")
            if kind == _TEXT:
                headers[name] = data[at + 2 : at + 2 + length].decode("utf-8", "replace")
            at += 2 + length
        elif kind in _WIDTHS:
            at += _WIDTHS[kind]
        else:
            break
    return headers


Grammar = tuple[Callable[[bytearray, int, int], int], Callable[[bytes], Event]]
_SSE: Grammar = (_sse_end, _sse)
_LINES: Grammar = (_line_end, _line)
_GRAMMARS: dict[str, Grammar] = {
    "application/vnd.amazon.eventstream": (_frame_end, _frame),
    "application/x-ndjson": _LINES,
    "application/jsonl": _LINES,
    "application/json-lines": _LINES,
}
