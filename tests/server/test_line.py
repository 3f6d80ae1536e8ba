"""Connections that take only so much at once, through the proxy."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.faults.upstream import Answer, Pause, Upstream, ok

from .gateway import Gateway, config, gateway, until


@pytest.fixture
def a() -> Iterator[Upstream]:
    with Upstream(ok("from a")) as upstream:
        yield upstream


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as made:
        yield made


def paused(pause: Pause, text: str = "from a") -> Answer:
    good = ok(text)
    return Answer(good.status, good.body, good.headers, before=[pause])


def waiting(gateway: Gateway) -> int:
    return sum(line.waiting for line in gateway.cell.active.routes.lines.values())


def test_a_connection_is_asked_by_so_many_at_once_and_the_next_waits_its_turn(
    tmp_path: Path, a: Upstream, pool: ThreadPoolExecutor
) -> None:
    pause = Pause()
    a.script(paused(pause), ok("second"))
    text = config([{"id": "one", "base_url": a.url, "max_concurrent": 1}], queue={"slot_wait": "10s"})
    with gateway(tmp_path, text) as made:
        first = pool.submit(made.chat)
        assert pause.reached.wait(10)
        second = pool.submit(made.chat)
        until(lambda: waiting(made) == 1)
        assert len(a.requests) == 1
        pause.release()
        assert "from a" in first.result().text and "second" in second.result().text


def test_who_waits_too_long_goes_out_without_a_slot(tmp_path: Path, a: Upstream, pool: ThreadPoolExecutor) -> None:
    pause = Pause()
    a.script(paused(pause), ok("second"))
    text = config([{"id": "one", "base_url": a.url, "max_concurrent": 1}], queue={"slot_wait": "1ms"})
    with gateway(tmp_path, text) as made:
        first = pool.submit(made.chat)
        assert pause.reached.wait(10)
        assert "second" in made.chat().text
        pause.release()
        assert first.result().status_code == 200


def test_a_target_at_its_cap_is_ranked_last(tmp_path: Path, a: Upstream, pool: ThreadPoolExecutor) -> None:
    pause = Pause()
    a.script(paused(pause))
    with Upstream(ok("from b")) as b:
        rows = [{"id": "one", "base_url": a.url, "max_concurrent": 1}, {"id": "two", "base_url": b.url}]
        with gateway(tmp_path, config(rows)) as made:
            first = pool.submit(made.chat)
            assert pause.reached.wait(10)
            assert "from b" in made.chat().text
            pause.release()
            assert "from a" in first.result().text


def test_a_full_line_refuses_in_the_clients_words_and_touches_no_health(
    tmp_path: Path, a: Upstream, pool: ThreadPoolExecutor
) -> None:
    pause = Pause()
    a.script(paused(pause), ok())
    rows = [{"id": "one", "base_url": a.url, "max_concurrent": 1}]
    with gateway(tmp_path, config(rows, queue={"max_queue_depth": 1, "slot_wait": "10s"})) as made:
        running = pool.submit(made.chat)
        assert pause.reached.wait(10)
        held = pool.submit(made.chat)
        until(lambda: waiting(made) == 1)
        refused = made.chat()
        pause.release()
        assert [one.result().status_code for one in (running, held)] == [200, 200]
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "RATE_LIMIT_QUEUE_FULL")
        assert refused.json()["diagnostics"]["excluded"][0]["reason"] == "at_capacity"
        assert not list(made.cell.locks) and len(a.requests) == 2


def test_a_refusal_of_ours_goes_on_to_the_next_target(tmp_path: Path, a: Upstream) -> None:
    with Upstream(ok("from b")) as b:
        rows = [{"id": "one", "base_url": a.url, "rpm": 1}, {"id": "two", "base_url": b.url}]
        with gateway(tmp_path, config(rows, queue={"max_wait": "1ms"})) as made:
            assert ["from a" in made.chat().text, "from b" in made.chat().text] == [True, True]


def test_more_than_the_pace_allows_is_refused_when_nothing_else_is_left(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config([{"id": "one", "base_url": a.url, "rpm": 2}], queue={"max_wait": "1ms"})) as made:
        answers = [made.chat() for _ in range(3)]
        assert [one.status_code for one in answers] == [200, 200, 503]
        assert answers[2].json()["error"]["code"] == "RATE_LIMIT_QUEUE_TIMEOUT"


def test_an_attempt_that_takes_too_long_after_dispatch_is_ended_here_and_blames_nobody(
    tmp_path: Path, a: Upstream
) -> None:
    stuck = Pause()
    a.script(paused(stuck))
    row = {"id": "one", "base_url": a.url, "max_concurrent": 1, "deadlines": {"first_byte": "20ms", "idle": "9s"}}
    rest = Answer(200, [b'{"choices": [', stuck])
    a.script(rest)
    with gateway(tmp_path, config([row], queue={"execution_max_wait": "50ms"})) as made:
        answer = made.chat()
        assert (answer.status_code, answer.json()["error"]["code"]) == (504, "RATE_LIMIT_EXECUTION_TIMEOUT")
        assert stuck.left.wait(10)
        assert not list(made.cell.locks)


def test_a_client_that_leaves_the_line_leaves_no_hole(tmp_path: Path, a: Upstream, pool: ThreadPoolExecutor) -> None:
    pause = Pause()
    a.script(paused(pause), ok())
    rows = [{"id": "one", "base_url": a.url, "max_concurrent": 1}]
    with gateway(tmp_path, config(rows, queue={"slot_wait": "10s"})) as made:
        first = pool.submit(made.chat)
        assert pause.reached.wait(10)
        with httpx.Client(base_url=made.url, timeout=0.3) as impatient, pytest.raises(httpx.ReadTimeout):
            impatient.post("/v1/chat/completions", json={"model": "coding", "messages": []})
        until(lambda: waiting(made) == 0)
        pause.release()
        assert first.result().status_code == 200
        assert made.chat().status_code == 200
        assert len(a.requests) == 2
