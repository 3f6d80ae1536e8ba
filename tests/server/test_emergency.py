"""The emergency fallback, from the configuration to the upstream that is asked last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.problem import PolicyError
from tests.faults.upstream import DONE, Answer, Pause, Upstream, delta, error, ok, sse

from .gateway import Gateway, config, gateway, until

EMPTY = error(402, "no money", code="insufficient_quota")
BROKEN = error(500, "down")


@contextmanager
def served(
    folder: Path, *answers: Answer, emergency: dict[str, Any] | None = None, **more: Any
) -> Iterator[tuple[Gateway, list[Upstream], Upstream]]:
    """As many accounts as answers, and one for emergencies."""
    ups = [Upstream(one) for one in answers]
    spare = Upstream(ok("from the spare"))
    with spare:
        for one in ups:
            one.__enter__()
        try:
            rows = [{"id": f"c{at}", "base_url": one.url, "provider": f"p{at}"} for at, one in enumerate(ups)]
            combos = {"coding": [{"connection": row["id"], "model": "m"} for row in rows]}
            rows.append({"id": "spare", "base_url": spare.url, "provider": "spare"})
            said = {"enabled": True, "targets": [{"connection": "spare", "model": "small"}], **(emergency or {})}
            with gateway(folder, config(rows, combos, emergency=said, **more)) as made:
                yield made, ups, spare
        finally:
            for one in ups:
                one.__exit__()


def test_nobody_is_asked_instead_where_it_is_not_switched_on(tmp_path: Path) -> None:
    with served(tmp_path, EMPTY, emergency={"enabled": False}) as (made, _, spare):
        assert made.chat().status_code == 402
        assert not spare.requests


def test_when_every_account_is_empty_another_model_answers_shortly_and_says_so(tmp_path: Path) -> None:
    with served(tmp_path, EMPTY, EMPTY, emergency={"max_tokens": 50}) as (made, ups, spare):
        answer = made.chat(max_tokens=4000)
        assert answer.status_code == 200 and "from the spare" in answer.text
        assert answer.headers["x-faultwise-emergency"] == "credits_exhausted"
        assert answer.headers["x-faultwise-target"] == "spare/small"
        assert answer.headers["x-faultwise-attempts"] == "3"
        assert spare.requests[0].json["model"] == "small" and spare.requests[0].json["max_tokens"] == 50
        assert made.chat().status_code == 200  # and also when nobody is asked because all are closed
        assert [len(one.requests) for one in ups] == [1, 1] and len(spare.requests) == 2


def test_an_answer_of_a_target_says_nothing_of_emergencies(tmp_path: Path) -> None:
    with served(tmp_path, EMPTY, ok()) as (made, _, spare):
        assert "x-faultwise-emergency" not in made.chat().headers
        assert not spare.requests


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ((BROKEN,), {}),
        ((EMPTY, BROKEN), {}),
        ((EMPTY, error(400, "no such field")), {}),
        ((EMPTY,), {"tools": [{"type": "function", "function": {"name": "f"}}]}),
        ((EMPTY,), {"functions": [{"name": "f"}]}),
    ],
    ids=["down", "one of two down", "the request's fault", "tools", "functions"],
)
def test_other_failures_and_requests_with_tools_are_told_as_they_are(
    tmp_path: Path, answers: tuple[Answer, ...], asked: dict[str, Any]
) -> None:
    with served(tmp_path, *answers) as (made, _, spare):
        assert made.chat(**asked).status_code >= 400
        assert not spare.requests


def test_the_reasons_can_be_declared(tmp_path: Path) -> None:
    with served(tmp_path, EMPTY, BROKEN, emergency={"reasons": ["credits_exhausted", "server_error"]}) as (made, _, _):
        answer = made.chat()
        assert answer.status_code == 200
        assert answer.headers["x-faultwise-emergency"] == "credits_exhausted, server_error"


def test_its_own_failure_leaves_the_outcome_as_it_was(tmp_path: Path) -> None:
    with served(tmp_path, EMPTY) as (made, _, spare):
        spare.script(error(503, "busy"))
        answer = made.chat()
        assert (answer.status_code, answer.headers["x-faultwise-reason"]) == (402, "credits_exhausted")
        assert "no money" in answer.json()["error"]["message"]
        assert [one["status"] for one in answer.json()["diagnostics"]["attempts"]] == [402, 503]
        assert "x-faultwise-emergency" not in answer.headers
        assert len(spare.requests) == 1


def test_it_stands_behind_its_own_gates_and_the_keys_bounds(tmp_path: Path) -> None:
    keys = [{"id": "k", "hash": f"sha256:{sha256(b'key').hexdigest()}", "allowed_connections": ["c0"]}]
    with served(tmp_path, EMPTY, keys=keys) as (made, _, spare):
        asked = {"model": "coding", "messages": []}
        refused = made.client.post("/v1/chat/completions", json=asked, headers={"authorization": "Bearer key"})
        assert refused.status_code == 402 and not spare.requests
    with served(tmp_path, EMPTY) as (made, _, spare):
        made.client.post("/api/resilience/lock", json={"connection": "spare"})
        assert made.chat().status_code == 402 and not spare.requests


def test_a_target_that_was_asked_already_is_not_asked_again(tmp_path: Path) -> None:
    with served(tmp_path, EMPTY, emergency={"targets": [{"connection": "c0", "model": "m"}]}) as (made, ups, _):
        assert made.chat().status_code == 402
        assert len(ups[0].requests) == 1


def test_the_first_that_speaks_the_clients_wire_is_asked(tmp_path: Path) -> None:
    with Upstream(EMPTY) as a, Upstream(ok()) as other, Upstream(ok("from b")) as b:
        rows = [
            {"id": "a", "base_url": a.url},
            {"id": "claude", "base_url": other.url, "wire": "anthropic"},
            {"id": "b", "base_url": b.url, "provider": "other"},
        ]
        targets = [{"connection": "claude", "model": "x"}, {"provider": "other", "model": "y"}]
        combos = {"coding": [{"connection": "a", "model": "m"}]}
        emergency = {"enabled": True, "targets": targets}
        with gateway(tmp_path, config(rows, combos, emergency=emergency)) as made:
            assert "from b" in made.chat().text
            assert not other.requests


def test_a_stream_that_has_begun_with_comments_says_so_in_one(tmp_path: Path) -> None:
    pause = Pause()
    late = Answer(EMPTY.status, EMPTY.body, EMPTY.headers, before=[pause])
    with served(tmp_path, late, limits={"heartbeat": "1ms"}) as (made, _, spare):
        spare.script(sse(delta("from the spare"), delta(finish="stop"), DONE))
        asked = {"model": "coding", "messages": [], "stream": True}
        with made.client.stream("POST", "/v1/chat/completions", json=asked) as answer:
            lines = answer.iter_lines()
            assert next(lines) == ": waiting"
            pause.release()
            rest = list(lines)
        assert ": x-faultwise-emergency: credits_exhausted" in rest
        assert any("from the spare" in one for one in rest)
    with served(tmp_path, EMPTY) as (made, _, spare):
        spare.script(sse(delta("from the spare"), delta(finish="stop"), DONE))
        assert made.chat(stream=True).headers["x-faultwise-emergency"] == "credits_exhausted"


def test_what_is_declared_wrongly_is_refused(tmp_path: Path) -> None:
    row = {"id": "a", "base_url": "http://x"}
    for said, message in (
        ({"enabled": True}, "names no target"),
        ({"targets": [{"connection": "b", "model": "m"}]}, "`emergency`: unknown connection `b`"),
        (
            {"enabled": True, "targets": [{"connection": "a", "model": "m"}], "reasons": ["poverty"]},
            "the policy has no reason `poverty`",
        ),
    ):
        with pytest.raises(PolicyError, match=message), gateway(tmp_path, config([row], emergency=said)):
            until(lambda: False)
