"""Streams: bytes to events, and what an event is."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.literal import MISSING
from faultwise.engine.failure.stream import (
    EVENT_LIMIT,
    Event,
    Sign,
    Splitter,
    error_event,
    is_stream,
    judge,
    split,
)


def said(events: list[Event]) -> list[tuple[str, bytes]]:
    return [(event.name, event.data) for event in events]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_events_are_cut_at_blank_lines_of_any_kind(end: bytes) -> None:
    stream = end.join([b"event: a", b"data: 1", b"data: 2", b"", b": comment", b"", b"id: 7", b"data:3", b"", b""])
    assert said(split(stream)) == [("a", b"1\n2"), ("", b""), ("", b"3")]


def test_a_byte_order_mark_and_extra_blank_lines_are_nothing() -> None:
    assert said(split(b"\xef\xbb\xbfdata: 1\n\n\n\ndata: 2\n\n")) == [("", b"1"), ("", b"2")]


def test_a_last_event_without_its_blank_line_comes_with_the_end() -> None:
    splitter = Splitter()
    assert splitter.feed(b'data: {"error": "x"}') == []
    assert splitter.rest == b'data: {"error": "x"}'
    assert said(splitter.finish()) == [("", b'{"error": "x"}')]
    assert (splitter.rest, splitter.finish()) == (b"", [])


def test_bare_json_in_a_stream_is_an_event() -> None:
    assert said(split(b'{"error":\n {"message": "x"}\n}\n\n'))[0][1] == b'{"error":\n {"message": "x"}\n}'
    assert said(split(b"nonsense\n\n")) == [("", b"")]
    assert said(split(b" indented\n\n")) == [("", b"")]


PIECES = st.lists(
    st.sampled_from([b"data: x", b"event: e", b": c", b"\n", b"\r", b"\r\n", b"{}", b"data", b"\xff"]), max_size=24
)


@given(
    PIECES,
    st.lists(st.integers(0, 80), max_size=5),
    st.sampled_from(["", "application/x-ndjson", "application/vnd.amazon.eventstream"]),
)
def test_no_byte_is_lost_however_the_stream_is_fed(pieces: list[bytes], cuts: list[int], kind: str) -> None:
    stream = b"".join(pieces)
    splitter = Splitter(kind)
    raws, at = [], 0
    for cut in [*sorted(cuts), len(stream)]:
        raws += [event.raw for event in splitter.feed(stream[at:cut])]
        at = max(at, min(cut, len(stream)))
    assert b"".join(raws) + splitter.rest == stream
    raws += [event.raw for event in splitter.finish()]
    assert b"".join(raws) == stream


@given(
    st.lists(st.sampled_from([b"data: x", b"event: e", b": c"]), min_size=1, max_size=6),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.data(),
)
def test_the_events_do_not_depend_on_how_the_stream_is_fed(lines: list[bytes], end: bytes, data: st.DataObject) -> None:
    stream = b"".join(line + end + end for line in lines)
    splitter = Splitter()
    events: list[Event] = []
    at = 0
    while at < len(stream):
        size = data.draw(st.integers(1, 7))
        events += splitter.feed(stream[at : at + size])
        at += size
    events += splitter.finish()
    spoken = [(event.name, event.data) for event in events if event.raw.strip()]
    assert spoken == said(split(stream))


def test_an_event_without_an_end_is_handed_on_in_pieces() -> None:
    splitter = Splitter()
    chunk = b"data: " + b"x" * (EVENT_LIMIT // 4)
    raws = [event.raw for _ in range(5) for event in splitter.feed(chunk)]
    assert b"".join(raws) + splitter.rest == chunk * 5
    assert len(splitter.rest) <= EVENT_LIMIT


def test_lines_of_json_are_events() -> None:
    assert said(split(b'{"a":1}\n{"b":2}', "application/x-ndjson; charset=utf-8")) == [
        ("", b'{"a":1}'),
        ("", b'{"b":2}'),
    ]


def frame(payload: bytes, **headers: str) -> bytes:
    head = b"\x03on!\x00" + b"".join(
        bytes([len(name) + 1])
        + b":"
        + name.replace("_", "-").encode()
        + b"\x07"
        + len(value).to_bytes(2, "big")
        + value.encode()
        for name, value in headers.items()
    )
    head = head.replace(b"\x03on!\x00", b"\x03on!\x01\x04num!\x04\x00\x00\x00\x07")
    total = 16 + len(head) + len(payload)
    return total.to_bytes(4, "big") + len(head).to_bytes(4, "big") + b"crc1" + head + payload + b"crc2"


AWS = "application/vnd.amazon.eventstream"


def test_aws_frames_are_events(envelopes: Envelopes) -> None:
    inner = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hi"}}
    chunk = frame(json.dumps({"bytes": b64encode(json.dumps(inner).encode()).decode()}).encode(), event_type="chunk")
    plain = frame(b'{"contentBlockDelta": 1}', event_type="contentBlockDelta")
    broken = frame(b'{"message": "too fast"}', message_type="exception", exception_type="throttlingException")
    bare = frame(b"", error_code="InternalFailure", error_message="sorry")
    odd = frame(b'{"bytes": "*"}', event_type="chunk")
    splitter = Splitter(AWS)
    stream = chunk + plain + broken + bare + odd
    events = [event for at in range(0, len(stream), 7) for event in splitter.feed(stream[at : at + 7])]
    assert b"".join(event.raw for event in events) == stream
    assert [event.document() for event in events] == [
        inner,
        {"contentBlockDelta": 1},
        {"__type": "throttlingException", "message": "too fast"},
        {"__type": "InternalFailure", "message": "sorry"},
        {"bytes": "*"},
    ]
    assert [judge(event, envelopes) for event in events[:4]] == [Sign.CONTENT, Sign.CONTENT, Sign.ERROR, Sign.ERROR]


@pytest.mark.parametrize(
    "stream",
    [b"\xff" * 40, b"\0" * 40, frame(b"{}", event_type="x")[:-1], frame(b"{}", a="b")[:13] + b"\x01a\x63" + b"\0" * 30],
)
def test_frames_that_are_none_are_handed_on_as_they_are(stream: bytes) -> None:
    assert b"".join(event.raw for event in split(stream, AWS)) == stream


CONTENT: list[Any] = [
    {"choices": [{"delta": {"content": "x"}}], "error": {}},
    {"choices": [{"delta": {"content": "x"}}], "base_resp": {"status_code": 0, "status_msg": ""}},
    {"type": "content_block_start", "content_block": {"type": "tool_use"}},
    {"candidates": [{"content": {"parts": [{"text": "x"}]}}]},
    {"unheard": "of"},
    "a text",
    [{"candidates": [{"content": {"parts": [{"text": "x"}]}}]}],
]
FILLER: list[Any] = [
    {},
    [],
    5,
    "",
    {"type": "ping"},
    {"type": "response.created", "response": {"status": "in_progress", "error": None}},
    {"choices": [{"delta": {"role": "assistant"}}], "error": {}},
    {"choices": [{"delta": {}}], "error": None},
    {"choices": [], "usage": {"total_tokens": 1}},
    {"choices": [{"delta": {}, "finish_reason": "length"}]},
    {"choices": [{"delta": {}, "finish_reason": "content_filter"}]},
    {"candidates": [{"finishReason": "STOP"}]},
]
DONE: list[Any] = [
    {"type": "message_stop"},
    {"type": "response.completed", "response": {"status": "completed", "error": None}},
]
ERRORS: list[Any] = [
    {"error": {"message": "x"}},
    {"error": "x"},
    {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
    {"type": "response.failed", "response": {"status": "failed", "error": {"code": "x"}}},
    {"choices": [{"delta": {"content": ""}, "finish_reason": "error"}]},
    {"choices": [{"delta": {"content": "partial"}, "error": {"code": 502}}]},
    {"choices": [], "base_resp": {"status_code": 1039, "status_msg": "x"}},
    {"choices": [{"delta": {"content": 'Error: API request failed (429): {"error": {"message": "x"}}'}}]},
    [{"error": {"code": 503}}],
]


def event(document: Any, name: str = "") -> Event:
    return Event(name, json.dumps(document).encode(), b"")


@pytest.mark.parametrize(
    ("document", "sign"),
    [
        *((document, Sign.ERROR) for document in ERRORS),
        *((document, Sign.CONTENT) for document in CONTENT),
        *((document, Sign.FILLER) for document in FILLER),
        *((document, Sign.DONE) for document in DONE),
    ],
)
def test_what_an_event_is(envelopes: Envelopes, document: Any, sign: Sign) -> None:
    assert judge(event(document), envelopes) is sign


def test_events_that_are_not_json(envelopes: Envelopes) -> None:
    assert judge(Event("", b"[DONE]", b""), envelopes) is Sign.DONE
    assert judge(Event("", b"", b": keep-alive\n\n"), envelopes) is Sign.FILLER
    assert judge(Event("", b"  ", b""), envelopes) is Sign.FILLER
    assert judge(Event("", b"plain", b""), envelopes) is Sign.CONTENT
    assert Event("", b"plain", b"").document() is MISSING


def test_an_event_named_error_is_one_whatever_it_carries(envelopes: Envelopes) -> None:
    assert judge(event({}, "error"), envelopes) is Sign.ERROR
    assert judge(Event("error", b"", b""), envelopes) is Sign.ERROR
    assert judge(event({"type": "ping"}, "ping"), envelopes) is Sign.FILLER


def test_the_event_that_failed_is_found(envelopes: Envelopes) -> None:
    events = split(
        b'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"error":{"message":"y"}}\n\ndata: [DONE]\n\n'
    )
    found = error_event(events, envelopes)
    assert found is not None and found.document() == {"error": {"message": "y"}}
    assert error_event(events[:1], envelopes) is None


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("data: x", "", True),
        ("event: x\ndata: y", "application/json", True),
        (": comment", "", True),
        ("retry: 5", "text/event-stream", True),
        ("message", "text/event-stream", True),
        ('{"error": 1}', "text/event-stream", False),
        ("database: down", "", False),
        ("Too Many Requests", "text/plain", False),
    ],
)
def test_what_is_a_stream(text: str, kind: str, expected: bool) -> None:
    assert is_stream(text, kind) is expected


@given(st.text("a\r\n", max_size=12))
def test_an_event_ends_behind_its_first_blank_line(text: str) -> None:
    found = re.search(rb"(?:\r\n|\n|\r(?!\n)){2,}", text.encode())
    events = Splitter().feed(text.encode())
    assert bool(events) is bool(found)
    assert not found or events[0].raw == text.encode()[: found.end()]
