"""Events that are like the one before are passed on unread, and are never anything but a part of an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.stream import Sign, judge, split
from faultwise.engine.policy.policy import Policy
from faultwise.server.proxy.glance import finishes
from faultwise.server.proxy.mould import GIVEN_UP, Mould
from faultwise.server.proxy.stream import Head, Tail

SHAPES: list[Any] = [
    lambda text: {"id": "x", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]},
    lambda text: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
    lambda text: {"type": "response.output_text.delta", "delta": text, "sequence_number": 4},
    lambda text: {"candidates": [{"content": {"parts": [{"text": text}]}}]},
]
PIECES = st.lists(
    st.sampled_from(
        ("a", " ", "错误", '"', "\\", "\n", "\r", "\u2028", '"}', '{"error":', '"error":{"message":"no"}', "429", "<")
        + ("Error: API request failed (429): {}", '"finish_reason":"stop"', "data: ", "\n\ndata: [DONE]\n\n", "error")
    ),
    max_size=6,
).map("".join)


def event(document: Any, escape: bool = False, name: str = "") -> bytes:
    """A server-sent event as servers write them."""
    head = f"event: {name}\n" if name else ""
    text = json.dumps(document, ensure_ascii=escape, separators=(",", ":"))
    return f"{head}data: {text}\n\n".encode()


def taken(envelopes: Envelopes, raw: bytes) -> Mould:
    """A mould that has one event to compare with."""
    mould = Mould(envelopes)
    mould.take(raw)
    return mould


@pytest.mark.parametrize("shape", SHAPES)
def test_an_event_with_another_text_fits(shipped: Policy, shape: Any) -> None:
    mould = taken(shipped.envelopes, event(shape("Hello")))
    assert mould.fits(event(shape(" world,\n错误")))


@pytest.mark.parametrize(
    "chunk",
    [
        event({"error": {"message": "no balance"}}),
        event(SHAPES[0]("a")) + event({"error": {"message": "no balance"}}),
        event({**SHAPES[0]("a"), "error": {"message": "no balance"}}),
        event({"id": "x", "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}),
        event(SHAPES[0]("a"), name="error"),
        event(SHAPES[0]("")),
        event(SHAPES[0]("a"))[:-1],
        event(SHAPES[0]("\u0085"), escape=True),
        event(SHAPES[0]("Error: API request failed (429): x")),
        event(SHAPES[0]("a"))[:-2] + b"\ndata: x\n\n",
        b"",
    ],
)
def test_what_is_not_the_same_but_for_its_text_does_not_fit(shipped: Policy, chunk: bytes) -> None:
    assert not taken(shipped.envelopes, event(SHAPES[0]("Hello"))).fits(chunk)


def test_a_key_that_declared_errors_look_at_is_never_the_text(shipped: Policy) -> None:
    """`asks` keeps an operator's error whose words stand under `content` from being taken for an answer."""
    assert shipped.envelopes.asks("error") and not shipped.envelopes.asks("content")


def test_a_stream_whose_events_never_agree_is_not_compared_for_ever(shipped: Policy) -> None:
    mould = Mould(shipped.envelopes)
    for number in range(GIVEN_UP):
        mould.take(event({"id": number, **SHAPES[2]("x")}))
        assert not mould.fits(event({"id": number + 1, **SHAPES[2]("y")}))
    mould.take(event(SHAPES[2]("x")))
    assert not mould.fits(event(SHAPES[2]("y")))


def test_what_fits_would_have_been_passed_on_had_it_been_read(shipped: Policy) -> None:
    envelopes = shipped.envelopes

    @given(shape=st.sampled_from(SHAPES), text=PIECES, other=PIECES, escape=st.booleans())
    def same(shape: Any, text: str, other: str, escape: bool) -> None:
        first, second = event(shape("Hello")), event(shape(text), escape)
        mould = taken(envelopes, first)
        for chunk in (second, second + event(shape(other)), event(shape(text + other), name="x")):
            if not mould.fits(chunk):
                continue
            (only,) = split(chunk, "text/event-stream")
            assert judge(only, envelopes, spoken=True) is not Sign.ERROR
            assert not finishes(only.raw)

    same()


def test_a_stream_comes_out_as_it_went_in_however_it_is_cut(shipped: Policy) -> None:
    @given(shape=st.sampled_from(SHAPES), texts=st.lists(PIECES, max_size=5), cut=st.integers(3, 300))
    def same(shape: Any, texts: list[str], cut: int) -> None:
        head = Head(shipped.envelopes, "text/event-stream")
        head.feed(event(shape("Hello")))
        by_event, by_size = Tail(head), Tail(head)
        events = [event(shape(text)) for text in texts]
        whole = b"".join(events)
        passed = by_event.begin() + b"".join(map(by_event.feed, events))
        pieces = by_size.begin() + b"".join(by_size.feed(whole[at : at + cut]) for at in range(0, len(whole), cut))
        if not by_event.error:
            assert passed == pieces == whole
        assert (by_event.error, by_event.finished) == (by_size.error, by_size.finished)

    same()
