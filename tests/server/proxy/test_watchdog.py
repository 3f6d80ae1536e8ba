"""The pace of streams, judged over virtual time."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.stream import Event
from faultwise.server.proxy.watchdog import Bounds, Phase, Watch, progress

BOUNDS = Bounds(warm_up=30, window=30, rate=4, least=1)  # 120 bytes a window


def event(data: dict[str, Any]) -> Event:
    return Event("", json.dumps(data).encode(), b"")


def text(size: int) -> Event:
    return event({"choices": [{"delta": {"content": "x" * size}}]})


THOUGHT = event({"choices": [{"delta": {"reasoning_content": "hm"}}]})
PING = Event("", b"", b": ping\n\n")


def first_slow(watch: Watch, until: float = 1000.0) -> float | None:
    """When a timer that goes by `due` finds the stream too slow, if nothing more comes."""
    at = watch.due()
    while at <= until:
        if watch.slow(at):
            return at
        assert watch.due() > at, "the timer would spin"
        at = watch.due()
    return None


def test_a_stream_that_never_says_anything_is_judged_after_warm_up_and_window() -> None:
    assert first_slow(Watch(BOUNDS, 100.0)) == 160.0


def test_heartbeats_and_usage_neither_count_nor_reset() -> None:
    watch = Watch(BOUNDS, 0.0)
    for at in range(0, 60, 5):
        watch.saw(PING, at)
        watch.saw(event({"choices": [], "usage": {"total_tokens": 9}}), at)
    assert first_slow(watch) == 60.0


def test_a_stream_is_slow_as_soon_as_its_last_window_holds_too_little() -> None:
    watch = Watch(BOUNDS, 0.0)
    for at in range(80):
        watch.saw(text(8), at)
        assert not watch.slow(at)
    found = first_slow(watch)
    assert found is not None and 93 <= found <= 97  # 15 seconds of 8 bytes are left of the window


def test_the_least_counts_where_the_rate_asks_for_less() -> None:
    watch = Watch(Bounds(0, 10, 1, least=50), 0.0)
    watch.saw(text(49), 1.0)
    assert first_slow(watch) == 10.0


def test_reasoning_and_tool_calls_suspend_it_while_they_come() -> None:
    watch = Watch(BOUNDS, 0.0)
    for at in range(0, 500, 10):
        watch.saw(THOUGHT, at)
        assert not watch.slow(at)
    assert watch.due() == 490 + 60


def test_the_first_text_after_a_long_thought_has_a_whole_window() -> None:
    watch = Watch(BOUNDS, 0.0)
    watch.saw(THOUGHT, 1.0)
    watch.saw(THOUGHT, 50.0)
    watch.saw(text(1), 109.0)
    assert first_slow(watch) == 139.0


def test_a_thought_that_got_stuck_is_judged() -> None:
    watch = Watch(BOUNDS, 0.0)
    watch.saw(text(500), 1.0)
    watch.saw(THOUGHT, 40.0)
    for at in range(40, 100, 5):
        watch.saw(PING, at)
    assert first_slow(watch) == 100.0


def test_what_a_slow_client_left_standing_is_not_held_against_the_upstream() -> None:
    watch = Watch(BOUNDS, 0.0)
    watch.restart(60.0)
    assert first_slow(watch) == 90.0


@given(st.lists(st.tuples(st.floats(0, 20), st.integers(0, 300)), max_size=60))
def test_no_stream_is_slow_whose_every_window_holds_enough(steps: list[tuple[float, int]]) -> None:
    """Against the plain definition: the text of the last window, told apart to a sixteenth of it."""
    watch, now, seen = Watch(BOUNDS, 0.0), 0.0, []
    for pause, size in steps:
        now += pause
        held = sum(size for at, size in seen if at > now - 30)
        if now < 60:
            assert not watch.slow(now)
        elif watch.slow(now):
            assert held < 120 + 300 * 8  # a grain may have ended with what came late in it
        elif sum(size for at, size in seen if at > now - 30 - 2) < 120:
            raise AssertionError("it is slow, whichever way grains fall")
        watch.saw(text(size), now)
        seen.append((now, size))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"choices": [{"delta": {"content": "äb"}}]}, (Phase.TEXT, 3)),
        ({"choices": [{"text": "abc"}]}, (Phase.TEXT, 3)),
        ({"choices": [{"delta": {"role": "assistant", "content": ""}}]}, (Phase.NOTHING, 0)),
        ({"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}, (Phase.WORK, 0)),
        ({"choices": ["odd"], "usage": {}}, (Phase.NOTHING, 0)),
        ({"type": "response.output_text.delta", "delta": "abcd"}, (Phase.TEXT, 4)),
        ({"type": "response.reasoning_summary_text.delta", "delta": "abcd"}, (Phase.WORK, 0)),
        ({"type": "response.function_call_arguments.delta", "delta": "{"}, (Phase.WORK, 0)),
        ({"type": "response.output_item.added", "item": {"type": "web_search_call"}}, (Phase.WORK, 0)),
        ({"type": "response.output_item.added", "item": {"type": "message"}}, (Phase.NOTHING, 0)),
        ({"type": "response.in_progress"}, (Phase.NOTHING, 0)),
        ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "ab"}}, (Phase.TEXT, 2)),
        ({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "ab"}}, (Phase.WORK, 0)),
        ({"type": "content_block_start", "content_block": {"type": "tool_use"}}, (Phase.WORK, 0)),
        ({"type": "content_block_start", "content_block": {"type": "text"}}, (Phase.NOTHING, 0)),
        ({"type": "ping"}, (Phase.NOTHING, 0)),
    ],
    ids=str,
)
def test_what_an_event_carries(data: dict[str, Any], expected: tuple[Phase, int]) -> None:
    assert progress(data) == expected


def test_what_is_no_object_carries_nothing() -> None:
    assert progress([1]) == (Phase.NOTHING, 0)
