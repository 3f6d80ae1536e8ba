"""What the client gets while it waits, and what becomes of one that does not read."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.upstream import Answer, Pause, Upstream, delta, error, event, ok, sse

from .gateway import Gateway, config, gateway

DONE = b"data: [DONE]\n\n"


@pytest.fixture
def one(tmp_path: Path, a: Upstream) -> Iterator[Gateway]:
    with gateway(tmp_path, config([{"id": "one", "base_url": a.url}], limits={"heartbeat": "20ms"})) as made:
        yield made


def held(
    gateway: Gateway, pause: Pause, path: str = "/v1/chat/completions", **more: Any
) -> tuple[httpx.Response, bytes]:
    """Ask for a stream that is held back; let it go when two comments came."""
    body = {"model": "coding", "messages": [{"role": "user", "content": "hi"}], "stream": True, **more}
    found = b""
    with gateway.client.stream("POST", path, json=body) as answer:
        for chunk in answer.iter_raw():
            found += chunk
            if found.count(b": waiting\n\n") >= 2:
                pause.release()
    return answer, found.replace(b": waiting\n\n", b"")


def test_a_stream_that_is_held_back_is_announced_with_comments_and_then_passes_exactly(
    one: Gateway, a: Upstream
) -> None:
    pause = Pause()
    said = [event(delta("Hello")), event(delta(None, "stop")), DONE]
    a.script(sse(pause, *said))
    answer, found = held(one, pause)
    assert (answer.status_code, found) == (200, b"".join(said))
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-faultwise-request-id"].startswith("fw-")


def test_comments_commit_no_target(tmp_path: Path, a: Upstream) -> None:
    pause = Pause()
    with Upstream(sse(delta("from b"), delta(None, "stop"), DONE)) as b:
        rows = [{"id": "one", "base_url": a.url}, {"id": "two", "provider": "other", "base_url": b.url}]
        with gateway(tmp_path, config(rows, limits={"heartbeat": "20ms"})) as made:
            a.script(Answer(503, b"", before=[pause]))
            answer, found = held(made, pause)
    assert answer.status_code == 200 and b"from b" in found and found.endswith(DONE)


def test_a_failure_after_comments_is_an_event_that_says_all_a_status_would(one: Gateway, a: Upstream) -> None:
    pause = Pause()
    failed = error(429, "slow down", {"retry-after": "7"})
    a.script(Answer(failed.status, failed.body, failed.headers, before=[pause]))
    answer, found = held(one, pause)
    assert answer.status_code == 200 and found.endswith(DONE)
    said = json.loads(found.removeprefix(b"data: ").partition(b"\n")[0])["error"]
    assert (said["message"], said["reason"], said["retryable"]) == ("slow down", "rate_limit_exceeded", True)


def test_a_plain_answer_after_comments_becomes_one_event(one: Gateway, a: Upstream) -> None:
    pause = Pause()
    plain = json.dumps(json.loads(bytes(ok("whole").body)), indent=2).encode()  # type: ignore[arg-type]
    a.script(Answer(200, plain, before=[pause]))
    _, found = held(one, pause)
    lines = found.removesuffix(b"\n\n" + DONE).split(b"\n")
    assert all(line.startswith(b"data: ") for line in lines)
    assert b"\n".join(line.removeprefix(b"data: ") for line in lines) == plain


def test_a_client_that_does_not_read_is_given_up_and_its_upstream_let_go(tmp_path: Path, a: Upstream) -> None:
    end = Pause()
    a.script(sse(*[event(delta("x" * 100_000))] * 300, end))
    text = config([{"id": "one", "base_url": a.url}], limits={"unread": "50ms"})
    with gateway(tmp_path, text) as made:
        url = httpx.URL(made.url)
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((url.host, url.port))
            body = b'{"model": "coding", "stream": true, "messages": []}'
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body))
            client.sendall(body)
            assert a.dropped.wait(10)
            assert not end.reached.is_set()
        assert not list(made.cell.locks)
