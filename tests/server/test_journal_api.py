"""`GET /api/decisions` and `GET /api/policy/rules`: what was decided, by which rule, and where that rule stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.history.replay import replay
from faultwise.server.cli import main
from tests.faults.upstream import CLOSE, Upstream, delta, error, ok, sse

from .gateway import CATALOGUE, Gateway, config, gateway, until

QUOTA = error(403, "用户额度不足")


@pytest.fixture
def served(tmp_path: Path, a: Upstream) -> Iterator[Gateway]:
    """`coding`: a relay, then one that is well; `alone`: one nobody has rules for. Written to `log.jsonl`."""
    with Upstream(ok()) as b:
        rows = [
            {"id": "relay", "provider": "agentrouter", "base_url": a.url},
            {"id": "main", "provider": "openai", "base_url": b.url},
            {"id": "odd", "provider": "acme", "base_url": a.url},
        ]
        combos = {
            "coding": [{"connection": "relay", "model": "m"}, {"connection": "main", "model": "m"}],
            "alone": [{"connection": "odd", "model": "m"}],
        }
        with gateway(tmp_path, config(rows, combos, log={"file": "log.jsonl", "redact": ["squirrel"]})) as made:
            yield made


def rows(served: Gateway, count: int, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def there() -> bool:
        found[:] = served.client.get("/api/decisions", params=asked).json()
        return len(found) >= count

    until(there)
    assert len(found) == count
    return found


def test_a_success_without_failures_leaves_no_line(served: Gateway) -> None:
    served.chat()
    served.chat("main/m")
    assert served.client.get("/api/decisions").json() == []
    assert not (served.file.parent / "log.jsonl").exists()


def test_a_failure_and_what_came_of_it_are_a_line_each(served: Gateway, a: Upstream) -> None:
    a.script(QUOTA)
    answer = served.chat()
    outcome, attempt = rows(served, 2)
    id = answer.headers["x-faultwise-request-id"]
    assert (attempt["event"], attempt["request_id"], attempt["id"]) == ("attempt", id, f"{id}/1")
    assert (attempt["target"], attempt["connection"], attempt["status"]) == ("agentrouter/m", "relay", 403)
    assert (attempt["verdict"]["status"], attempt["verdict"]["restated_by"]) == (429, "quota-misstated")
    (change,) = attempt["state"]
    assert change["key"] == "agentrouter/relay" and change["before"] is None
    assert change["after"]["reason"] == "quota_exhausted"
    assert (outcome["event"], outcome["request_id"], outcome["asked"]) == ("outcome", id, "coding")
    assert (outcome["status"], outcome["reason"], outcome["target"]) == (200, "ok", "openai/m")
    assert (outcome["attempts"], outcome["failed"], outcome["bytes_sent"]) == (2, 1, len(answer.content))
    assert attempt["policy"] == outcome["policy"] == served.cell.active.policy.digest


def test_a_request_nobody_was_asked_for_leaves_its_outcome(served: Gateway, a: Upstream) -> None:
    a.script(error(429, "slow down", {"retry-after": "30"}))
    served.chat("alone")
    served.chat("alone")
    newest, *_ = rows(served, 3)
    assert (newest["event"], newest["reason"], newest["attempts"]) == ("outcome", "all_targets_cooling_down", 0)
    assert newest["excluded"][0]["reason"] == "connection_cooldown" and newest["retry_after_s"] > 0


def test_a_stream_that_breaks_later_has_its_status_and_its_reason(served: Gateway, a: Upstream) -> None:
    a.script(sse(delta("hi"), CLOSE))
    served.chat("alone", stream=True)
    outcome, attempt = rows(served, 2)
    assert (outcome["status"], outcome["reason"], outcome["failed"]) == (200, "network_error", 1)
    assert attempt["phase"] == "transport" and attempt["verdict"]["phase"] == "transport"


def test_the_file_is_what_replay_reads(served: Gateway, a: Upstream) -> None:
    a.script(QUOTA, error(418, "teapot of the squirrel"))
    served.chat()
    served.chat("alone")
    rows(served, 4)
    written = (served.file.parent / "log.jsonl").read_bytes()
    assert b"squirrel" not in written and "用户额度不足".encode() in written
    part = replay(served.cell.active.policy, enumerate(written.splitlines(), 1), 0.0)
    assert (part.tally.lines, part.tally.unreadable, part.changes) == (2, 0, [])


def test_the_file_is_what_classify_reads(served: Gateway, a: Upstream, capsys: pytest.CaptureFixture[str]) -> None:
    a.script(QUOTA)
    served.chat()
    rows(served, 2)
    rules = [part for path in CATALOGUE for part in ("--rules", str(path))]
    log = str(served.file.parent / "log.jsonl")
    assert main(["classify", "--no-shipped", *rules, "--jsonl", log]) == 0
    (verdict,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (verdict["status"], verdict["rule"], verdict["cooldown_s"]) == (429, "quota-exhausted", 60.0)


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"provider": "AgentRouter"}, 1),
        ({"provider": "openai"}, 0),
        ({"connection": "odd"}, 1),
        ({"reason": "quota_exhausted"}, 1),
        ({"reason": "ok"}, 1),
        ({"rule": "quota-misstated"}, 1),
        ({"status": 403}, 1),
        ({"status": 429}, 1),
        ({"status": 418}, 0),
        ({"since": "1h"}, 4),
        ({"since": "2999-01-01T00:00:00Z"}, 0),
        ({"limit": 3}, 3),
    ],
)
def test_lines_are_found_by_what_is_asked(served: Gateway, a: Upstream, asked: dict[str, Any], count: int) -> None:
    a.script(QUOTA, error(409, "teapot"))
    served.chat()
    served.chat("alone")
    rows(served, 4)
    assert len(served.client.get("/api/decisions", params=asked).json()) == count


def test_what_no_rule_knows_is_gathered(served: Gateway, a: Upstream) -> None:
    a.script(QUOTA, error(409, "teapot 1"), error(409, "teapot 22"))
    served.chat()
    served.chat("alone")
    served.chat("odd/x")
    until(lambda: len(served.client.get("/api/decisions").json()) == 6)
    (group,) = served.client.get("/api/decisions?unmatched=1").json()
    assert (group["count"], group["provider"], group["status"]) == (2, "acme", 409)
    assert group["message"] == "teapot <n>" and "rules:" in group["starter"]


@pytest.mark.parametrize("query", ["status=x", "limit=-1", "since=soon", "colour=red"])
def test_a_filter_that_cannot_be_read_is_told(served: Gateway, query: str) -> None:
    answer = served.client.get(f"/api/decisions?{query}")
    assert answer.status_code == 422 and answer.json()["detail"]


def test_lines_are_followed_as_they_come(served: Gateway, a: Upstream) -> None:
    a.script(QUOTA)
    accept = {"accept": "text/event-stream"}
    with served.client.stream("GET", "/api/decisions?provider=agentrouter", headers=accept) as followed:
        lines = followed.iter_lines()
        assert next(lines) == ": following"
        served.chat()
        line = next(line for line in lines if line.startswith("data: "))
    assert json.loads(line.removeprefix("data: "))["verdict"]["reason"] == "quota_exhausted"


def test_followers_do_not_keep_the_server_from_going_down(served: Gateway) -> None:
    with served.client.stream("GET", "/api/decisions", headers={"accept": "text/event-stream"}) as followed:
        lines = followed.iter_lines()
        next(lines)
        served.cell.draining = True
        assert [line for line in lines if line] == []


def test_every_rule_says_where_it_stands_and_when_it_fired(served: Gateway, a: Upstream) -> None:
    a.script(QUOTA)
    served.chat()
    found = served.client.get("/api/policy/rules").json()
    assert found["digest"] == served.cell.active.policy.digest
    misstated, exhausted = found["providers"]["agentrouter"]
    assert (misstated["kind"], misstated["to"], misstated["hits"]) == ("restatement", 429, 1)
    assert misstated["file"].endswith("agentrouter.yaml") and misstated["line"] > 1 and misstated["why"]
    assert (exhausted["id"], exhausted["reason"], exhausted["hits"]) == ("quota-exhausted", "quota_exhausted", 1)
    assert exhausted["last_fired"] == pytest.approx(served.clock(), abs=60)
    general = {rule["id"]: rule for rule in found["providers"]["general"]}
    assert general["out-of-credit"]["hits"] == 0 and general["out-of-credit"]["last_fired"] is None
    assert "default-500" in general
    assert list(served.client.get("/api/policy/rules?provider=AgentRouter").json()["providers"]) == ["agentrouter"]
