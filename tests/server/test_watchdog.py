"""A stream that trickles, through the proxy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.upstream import Pause, Upstream, delta, sse

from .gateway import Gateway, config, gateway

WATCHDOG = {"enabled": True, "warm_up": "0s", "window": "1s", "bytes_per_second": 1000}


@pytest.fixture
def pair(tmp_path: Path, a: Upstream, b: Upstream) -> Iterator[Gateway]:
    rows = [{"id": "one", "base_url": a.url}, {"id": "two", "provider": "other", "base_url": b.url}]
    with gateway(tmp_path, config(rows, watchdog=WATCHDOG)) as made:
        yield made


def test_before_its_content_the_same_account_is_tried_once_more_then_the_next(
    pair: Gateway, a: Upstream, b: Upstream
) -> None:
    stuck = [Pause(), Pause()]
    a.script(*(sse(b": ping\n\n", one) for one in stuck))
    answer = pair.chat(stream=True)
    assert answer.status_code == 200 and "from b" in answer.text
    assert (len(a.requests), len(b.requests)) == (2, 1)
    assert answer.headers["x-faultwise-attempts"] == "3"
    assert all(one.left.wait(5) for one in stuck)


def test_after_its_content_it_ends_with_an_event_that_says_why(pair: Gateway, a: Upstream) -> None:
    stuck = Pause()
    a.script(sse(delta("Hello"), stuck))
    lines = [line for line in pair.chat(stream=True).text.splitlines() if line.startswith("data: {")]
    assert stuck.left.wait(5)
    said = json.loads(lines[-1].removeprefix("data: "))["error"]
    assert (said["code"], said["reason"], said["retryable"]) == ("STREAM_THROUGHPUT_TOO_LOW", "timeout", True)
    assert len(a.requests) == 1


def test_a_stream_with_enough_text_is_left_alone(pair: Gateway, a: Upstream) -> None:
    a.script(sse(delta("x" * 5000), delta(None, "stop"), b"data: [DONE]\n\n"))
    assert pair.chat(stream=True).text.endswith("data: [DONE]\n\n")
