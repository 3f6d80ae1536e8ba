"""Requests and tokens a minute, of connections and of keys, through the proxy."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.upstream import DONE, Upstream, delta, error, ok, sse

from .gateway import Gateway, config, gateway

USED = {"prompt_tokens": 10, "completion_tokens": 890, "total_tokens": 900}
AT_ONCE = {"max_wait": "1ms"}


@pytest.fixture
def a() -> Iterator[Upstream]:
    with Upstream(ok("from a")) as upstream:
        yield upstream


def keyed(**more: Any) -> list[dict[str, Any]]:
    return [
        {"id": name, "hash": f"sha256:{sha256(name.encode()).hexdigest()}", **(more if name == "one" else {})}
        for name in ("one", "two")
    ]


def ask(made: Gateway, key: str = "one", **more: Any) -> httpx.Response:
    asked = {"model": "coding", "messages": [], **more}
    return made.client.post("/v1/chat/completions", json=asked, headers={"authorization": f"Bearer {key}"})


def test_what_an_answer_took_counts_not_what_was_guessed(tmp_path: Path, a: Upstream) -> None:
    a.script(ok(usage=USED))
    with gateway(tmp_path, config([{"id": "one", "base_url": a.url, "tpm": 1000}], queue=AT_ONCE)) as made:
        assert [made.chat().status_code for _ in range(2)] == [200, 200]
        refused = made.chat()
        assert refused.status_code == 503 and refused.headers["x-faultwise-reason"] == "local_limit"
        assert refused.json()["error"]["code"] == "RATE_LIMIT_QUEUE_TIMEOUT"
        # 1,800 of 1,000 are spoken for: 48 s until one of about 20 fits
        assert 45 <= int(refused.headers["retry-after"]) <= 51
        (excluded,) = refused.json()["diagnostics"]["excluded"]
        assert excluded["reason"] == "at_capacity" and 45 < excluded["seconds"] < 51
        assert not list(made.cell.locks) and len(a.requests) == 2


def test_a_large_request_is_guessed_by_its_bytes_and_the_next_target_asked(tmp_path: Path, a: Upstream) -> None:
    with Upstream(ok("from b")) as b:
        rows = [{"id": "one", "base_url": a.url, "tpm": 1000}, {"id": "two", "base_url": b.url}]
        with gateway(tmp_path, config(rows, queue=AT_ONCE)) as made:
            prompt = [{"role": "user", "content": "word " * 600}]
            assert "from a" in made.chat(messages=prompt).text
            assert "from b" in made.chat(messages=prompt).text
            assert "from a" in made.chat().text  # for a small one there is room


def test_a_streams_usage_counts_where_it_tells(tmp_path: Path, a: Upstream) -> None:
    told = sse(delta("hi"), delta(finish="stop"), {**delta(), "choices": [], "usage": USED}, DONE)
    a.script(told)
    watchdog = {"enabled": True}
    text = config([{"id": "one", "base_url": a.url, "tpm": 500}], queue=AT_ONCE, watchdog=watchdog)
    with gateway(tmp_path, text) as made:
        assert made.chat(stream=True).status_code == 200
        assert made.chat(stream=True).status_code == 503


def test_a_key_that_is_too_fast_is_told_when_to_come_again_and_others_are_not(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config([{"id": "a", "base_url": a.url}], keys=keyed(rpm=2))) as made:
        assert [ask(made).status_code for _ in range(2)] == [200, 200]
        refused = ask(made)
        assert (refused.status_code, refused.headers["x-faultwise-reason"]) == (429, "local_limit")
        assert refused.json()["error"]["code"] == "RATE_LIMIT_KEY"
        assert refused.json()["error"]["type"] == "rate_limit_error"
        assert 25 <= int(refused.headers["retry-after"]) <= 30
        assert ask(made, "two").status_code == 200
        made.cell.take(made.cell.active.policy, made.cell.active.settings, "again")
        assert ask(made).status_code == 429
        assert not list(made.cell.locks) and len(a.requests) == 3


def test_a_keys_tokens_are_counted_whoever_answers(tmp_path: Path, a: Upstream) -> None:
    a.script(error(500, "down"))
    with Upstream(ok(usage=USED)) as b:
        rows = [{"id": "a", "base_url": a.url}, {"id": "b", "base_url": b.url}]
        with gateway(tmp_path, config(rows, keys=keyed(tpm=800))) as made:
            assert ask(made).status_code == 200
            refused = ask(made)
            assert refused.status_code == 429 and 5 <= int(refused.headers["retry-after"]) <= 12


def test_a_request_that_nobody_answered_took_no_tokens(tmp_path: Path, a: Upstream) -> None:
    a.script(error(400, "no such field"))
    with gateway(tmp_path, config([{"id": "a", "base_url": a.url}], keys=keyed(tpm=1000))) as made:
        prompt = [{"role": "user", "content": "word " * 700}]
        assert [ask(made, messages=prompt).status_code for _ in range(5)] == [400] * 5


def test_a_request_that_is_refused_for_what_it_is_counts_for_nothing(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config([{"id": "a", "base_url": a.url}], keys=keyed(rpm=1))) as made:
        assert [ask(made, model="nobody").status_code for _ in range(3)] == [404] * 3
        assert ask(made).status_code == 200
