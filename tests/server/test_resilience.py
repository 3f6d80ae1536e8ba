"""State at work: circuits, waits, bursts and budgets around real upstreams, and the routes that show and change it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from faultwise.engine.state.state import State
from faultwise.engine.store.sqlite import Sqlite
from tests.faults.upstream import Answer, Pause, Upstream, error, ok

from .gateway import Gateway, config, gateway, until

LIMITED = error(429, "slow down", {"retry-after": "1"})
BARE = error(429, "")
FAST = {"breaker": {"opens_at": 2, "degraded_at": 1, "reset": "30s", "window": "60s", "probe": "5s"}}


@pytest.fixture
def a() -> Iterator[Upstream]:
    with Upstream(ok("from a")) as upstream:
        yield upstream


def rows(*upstreams: Upstream, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"c{number}", "base_url": one.url, **more} for number, one in enumerate(upstreams)]


# circuits


def test_a_provider_that_fails_is_left_alone_and_then_tried_by_one_request(tmp_path: Path, a: Upstream) -> None:
    a.script(error(500), error(500), ok("back"))
    with gateway(tmp_path, config(rows(a, profile=FAST))) as made:
        assert [made.chat().status_code for _ in range(3)] == [500, 500, 503]
        assert len(a.requests) == 2
        excluded = made.chat().json()["diagnostics"]["excluded"]
        assert [one["reason"] for one in excluded] == ["circuit_open"]
        (breaker,) = made.client.get("/api/monitoring/health").json()["breakers"]
        assert (breaker["state"], breaker["provider"]) == ("OPEN", "acme")
        assert [one["after"] for one in breaker["transitions"]] == ["DEGRADED", "OPEN"]
        made.clock.ahead = 31
        assert "back" in made.chat().text
        (breaker,) = made.client.get("/api/monitoring/health").json()["breakers"]
        assert breaker["state"] == "CLOSED"


def test_a_provider_whose_wait_is_over_is_tried_though_others_are_well(
    tmp_path: Path, a: Upstream, b: Upstream
) -> None:
    a.script(error(503, "overloaded", {"retry-after": "7"}), ok("from a"))
    two = rows(a, b)
    two[1]["provider"] = "other"
    with gateway(tmp_path, config(two)) as made:
        assert ["from b" in made.chat().text for _ in range(2)] == [True, True]
        assert len(a.requests) == 1
        made.clock.ahead = 8
        assert ["from a" in made.chat().text for _ in range(2)] == [True, True]


def test_while_its_probe_is_under_way_others_are_kept_out(tmp_path: Path, a: Upstream) -> None:
    slow = Pause()
    a.script(error(500), error(500), Answer(200, ok("back").body, before=[slow]))
    with gateway(tmp_path, config(rows(a, profile=FAST))) as made:
        for _ in range(2):
            made.chat()
        made.clock.ahead = 31
        answers: list[httpx.Response] = []
        probe = threading.Thread(target=lambda: answers.append(_chat(made)))
        probe.start()
        until(slow.reached.is_set)
        assert made.chat().json()["diagnostics"]["excluded"][0]["reason"] == "circuit_open"
        slow.release()
        probe.join()
        assert answers[0].status_code == made.chat().status_code == 200
        assert len(a.requests) == 4


def test_a_client_that_leaves_its_probe_returns_the_permit(tmp_path: Path, a: Upstream) -> None:
    forever = Pause()
    a.script(error(500), error(500), Answer(before=[forever]), ok("back"))
    with gateway(tmp_path, config(rows(a, profile=FAST))) as made:
        for _ in range(2):
            made.chat()
        made.clock.ahead = 31
        with pytest.raises(httpx.ReadTimeout):
            made.client.post("/v1/chat/completions", json={"model": "coding"}, timeout=0.3)
        until(forever.left.is_set)
        until(lambda: made.chat().status_code == 200)


def test_a_degraded_provider_is_asked_after_the_others(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    a.script(error(500), ok("from a"))
    two = rows(a, b, profile=FAST)
    two[1]["provider"] = "other"
    with gateway(tmp_path, config(two)) as made:
        assert "from b" in made.chat().text
        assert "from b" in made.chat().text
        assert len(a.requests) == 1
        made.clock.ahead = 70
        assert "from a" in made.chat().text


def test_breakers_are_set_and_switched_off_by_the_environment(tmp_path: Path, a: Upstream) -> None:
    a.script(error(500))
    environ = {"FAULTWISE_BREAKER__API_KEY__OPENS_AT": "1", "FAULTWISE_BREAKER__API_KEY__DEGRADED_AT": "1"}
    with gateway(tmp_path, config(rows(a)), environ=environ) as made:
        assert [made.chat().status_code for _ in range(2)] == [500, 503]
        shown = made.client.get("/api/policy").json()["settings"]["breaker.api_key.opens_at"]
        assert shown == {"value": 1, "source": "environment FAULTWISE_BREAKER__API_KEY__OPENS_AT"}
    with gateway(tmp_path, config(rows(a)), environ=environ | {"FAULTWISE_BREAKER__ENABLED": "false"}) as made:
        assert [made.chat().status_code for _ in range(3)] == [500, 500, 500]


# waits


def test_a_short_cooldown_is_waited_for(tmp_path: Path, a: Upstream) -> None:
    a.script(LIMITED, ok("after a wait"))
    with gateway(tmp_path, config(rows(a), wait={"enabled": True})) as made:
        begun = time.monotonic()
        answer = made.chat()
        assert "after a wait" in answer.text and answer.headers["x-faultwise-attempts"] == "2"
        assert time.monotonic() - begun >= 0.95


def test_a_client_may_refuse_to_wait(tmp_path: Path, a: Upstream) -> None:
    a.script(LIMITED, ok())
    with gateway(tmp_path, config(rows(a), wait={"enabled": True})) as made:
        asked = {"model": "coding", "messages": []}
        answer = made.client.post("/v1/chat/completions", json=asked, headers={"x-faultwise-max-wait": "0s"})
        assert answer.status_code == 429 and answer.headers["retry-after"]
        answer = made.client.post("/v1/chat/completions", json=asked, headers={"x-faultwise-max-wait": "soon"})
        assert answer.status_code == 400 and "x-faultwise-max-wait" in answer.text


def test_a_quota_is_never_waited_for(tmp_path: Path, a: Upstream) -> None:
    body = {"retry-after": "1"}
    a.script(error(429, "insufficient quota for today", body, code="insufficient_quota"))
    with gateway(tmp_path, config(rows(a), wait={"enabled": True})) as made:
        begun = time.monotonic()
        assert made.chat().status_code in (402, 429)
        assert time.monotonic() - begun < 0.9
        assert len(a.requests) == 1


def test_waiting_ends_with_its_attempts(tmp_path: Path, a: Upstream) -> None:
    a.script(LIMITED)
    with gateway(tmp_path, config(rows(a), wait={"enabled": True, "max_attempts": 1})) as made:
        assert made.chat().status_code == 429
        assert len(a.requests) == 2


def test_of_those_that_wait_one_goes_first(tmp_path: Path, a: Upstream) -> None:
    first = Pause()
    a.script(LIMITED, Answer(200, ok("probe").body, before=[first]), ok())
    with gateway(tmp_path, config(rows(a), wait={"enabled": True})) as made:
        answers: list[httpx.Response] = []
        threads = [threading.Thread(target=lambda: answers.append(_chat(made))) for _ in range(5)]
        for thread in threads[:1]:
            thread.start()
        until(lambda: len(a.requests) == 1)
        for thread in threads[1:]:
            thread.start()
        until(first.reached.is_set)
        time.sleep(0.2)  # the others are awake by now, and stay where they are
        assert len(a.requests) == 2
        first.release()
        for thread in threads:
            thread.join()
        assert [one.status_code for one in answers] == [200] * 5


# bursts and budgets


def test_a_bare_limit_tries_two_siblings_and_no_more(tmp_path: Path, b: Upstream) -> None:
    with Upstream(BARE) as limited:
        five = rows(*[limited] * 5)
        five.append({"id": "other", "provider": "other", "base_url": b.url})
        with gateway(tmp_path, config(five), draw=lambda: 0.9) as made:
            assert "from b" in made.chat().text
            assert len(limited.requests) == 3
            found = made.client.get("/api/monitoring/health").json()["connections"]
            assert {one["scope"] for one in found} == {"connection", "provider"}
            assert "from b" in made.chat().text
            assert len(limited.requests) == 3  # it backs off as a whole
            made.clock.ahead = 10
            limited.script(ok("recovered"))
            assert "recovered" in made.chat().text


def test_a_proven_limit_stops_at_its_own_scope(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    a.script(error(429, "rate limit reached", {"retry-after": "30"}))
    with gateway(tmp_path, config(rows(a, b))) as made:
        assert "from b" in made.chat().text


def test_retries_are_a_share_of_the_traffic(tmp_path: Path) -> None:
    with Upstream(error(500)) as broken:
        six = [{"id": f"c{number}", "provider": f"p{number}", "base_url": broken.url} for number in range(6)]
        text = config(six, budget={"ratio": 0.0, "floor": 0.1, "window": "10s"})
        with gateway(tmp_path, text) as made:
            answer = made.chat()
            assert len(broken.requests) == 3  # the first, its fallback, and one more
            words = [one["reason"] for one in answer.json()["diagnostics"]["excluded"]]
            assert words == ["at_capacity"] * 3


# reload and restart


def test_a_restart_keeps_what_is_closed(tmp_path: Path, a: Upstream) -> None:
    a.script(error(429, "slow down", {"retry-after": "60"}))
    for expected in (1, 1):
        state = State(Sqlite(tmp_path / "state.db"))
        with gateway(tmp_path, config(rows(a)), kept=state) as made:
            made.chat()
            assert len(a.requests) == expected
            found = until_durable(made)
            assert found["reason"] == "rate_limit_exceeded"
            assert made.client.get("/api/monitoring/health").json()["store"]["durable"] is True
        state.store.close()


def until_durable(made: Gateway) -> dict[str, Any]:
    def durable() -> list[dict[str, Any]]:
        found = made.client.get("/api/monitoring/health").json()["connections"]
        return [one for one in found if one["durable"]]

    until(durable)
    return durable()[0]


def test_a_new_secret_opens_a_terminal_connection(tmp_path: Path, a: Upstream) -> None:
    a.script(error(402, "no credit left", code="insufficient_quota"), ok())
    text = config(rows(a))
    with gateway(tmp_path, text) as made:
        made.chat()
        (lock,) = made.client.get("/api/monitoring/health").json()["connections"]
        assert lock["terminal"] == "credits_exhausted" and "secret" not in lock
        assert made.chat().json()["diagnostics"]["excluded"][0]["reason"] == "terminal"
        made.file.write_text(text.replace("s3cr3t-c0", "s3cr3t-new"))
        assert made.client.post("/api/policy/reload").status_code == 200
        assert made.chat().status_code == 200


def test_a_removed_connection_takes_its_locks_along(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    a.script(error(429, "slow down", {"retry-after": "60"}))
    with gateway(tmp_path, config(rows(a, b))) as made:
        made.chat()
        made.file.write_text(config(rows(b, b)[1:]))
        assert made.client.post("/api/policy/reload").status_code == 200
        assert made.client.get("/api/monitoring/health").json()["connections"] == []


# routes


def report(made: Gateway, **row: Any) -> dict[str, Any]:
    answer = made.client.post("/api/report", json=row)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


OTHER = {"provider": "zeta", "connection": "z1", "model": "m", "host": "z.example"}


def test_other_routers_report_and_ask(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config(rows(a))) as made:
        found = report(made, **OTHER, status=429, headers={"retry-after": "60"}, body="rate limit", id="r1")
        assert found["id"] == "r1" and found["verdict"]["reason"] == "rate_limit_exceeded"
        assert [(one["kind"], one["key"], one["before"]) for one in found["changes"]] == [("lock", "zeta/z1", None)]
        targets = [OTHER, {**OTHER, "connection": "z2"}, {"connection": "c0", "model": "m"}, {"model": "m"}]
        asked = made.client.post("/api/gate", json={"targets": targets}).json()["targets"]
        assert [one["open"] for one in asked] == [False, True, True, False]
        assert asked[0]["reason"] == "connection_cooldown" and 59 < asked[0]["seconds"] < 64
        assert "both are needed" in asked[3]["error"]
        assert asked[2]["provider"] == "acme"
        made.clock.ahead = 70
        assert report(made, **OTHER, ok=True)["verdict"] is None
        assert made.client.post("/api/gate", json=[OTHER]).json()["targets"][0]["open"] is True


def test_what_was_reported_counts_for_the_proxy_too(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config(rows(a))) as made:
        report(made, connection="c0", model="m", status=429, headers={"retry-after": "60"}, body="")
        assert made.chat().status_code in (429, 503)
        assert a.requests == []


def test_a_reload_keeps_the_locks_of_other_routers(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config(rows(a))) as made:
        report(made, **OTHER, status=429, headers={"retry-after": "60"}, body="")
        made.file.write_text(config(rows(a), combos={}))
        assert made.client.post("/api/policy/reload").status_code == 200
        assert made.client.post("/api/gate", json=OTHER).json()["targets"][0]["open"] is False


def test_a_gate_hands_out_one_permit_and_its_report_returns_it(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config(rows(a), profiles={"api_key": FAST})) as made:
        for _ in range(2):
            report(made, **OTHER, status=500, body="")
        made.clock.ahead = 31
        asked = [made.client.post("/api/gate", json={**OTHER, "claim": True}).json()["targets"][0] for _ in range(2)]
        assert [(one["open"], one["trial"]) for one in asked] == [(True, True), (False, False)]
        assert asked[1]["reason"] == "circuit_open"
        report(made, **OTHER, ok=True, permit=asked[0]["permit"])
        assert made.client.post("/api/gate", json=OTHER).json()["targets"][0] == {
            "provider": "zeta",
            "connection": "z1",
            "model": "m",
            "open": True,
            "reason": None,
            "seconds": None,
            "degraded": False,
            "trial": False,
            "permit": None,
        }


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"status": 500}, "both are needed"),
        ({**OTHER, "host": 7}, "`host`: expected text"),
        ({**OTHER}, "`status`: missing"),
        ({**OTHER, "ok": True, "started": "yesterday"}, "not an RFC 3339 time"),
        (7, "expected a JSON object"),
    ],
)
def test_a_report_that_cannot_be_read_is_refused(tmp_path: Path, a: Upstream, row: Any, said: str) -> None:
    with gateway(tmp_path, config(rows(a))) as made:
        answer = made.client.post("/api/report", json=row)
        assert answer.status_code == 422 and said in answer.json()["detail"]
        assert said in made.client.post("/api/report", json=[row]).json()[0]["error"]


def test_reset_opens_what_it_names(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    a.script(error(429, "slow down", {"retry-after": "600"}), ok("open again"))
    with gateway(tmp_path, config(rows(a, b))) as made:
        made.chat()
        ask = made.client.post
        assert ask("/api/resilience/reset", json={"connection": "c1"}).json() == {"cleared": []}
        assert ask("/api/resilience/reset", json={"connection": "c0"}).json() == {"cleared": ["acme/c0"]}
        assert "open again" in made.chat().text
        assert ask("/api/resilience/reset", json={"all": True}).json() == {"cleared": []}
        for body in ({}, {"nonsense": 1}, [1]):
            assert ask("/api/resilience/reset", json=body).status_code == 422
        assert ask("/api/resilience/reset", content=b"no").status_code == 400


def test_a_connection_is_drained_by_hand(tmp_path: Path, a: Upstream, b: Upstream) -> None:
    with gateway(tmp_path, config(rows(a, b))) as made:
        ask = made.client.post
        held = ask("/api/resilience/lock", json={"connection": "c0", "until": made.clock() + 60}).json()
        assert held["reason"] == "operator" and held["key"] == "hold:c0"
        assert "from b" in made.chat().text and a.requests == []
        assert ask("/api/resilience/lock", json={"connection": "nobody"}).status_code == 404
        assert ask("/api/resilience/lock", json={"connection": "c0", "until": "later"}).status_code == 422
        made.clock.ahead = 61
        assert "from a" in made.chat().text


def test_management_needs_the_token(tmp_path: Path, a: Upstream) -> None:
    with gateway(tmp_path, config(rows(a)), token="t0ken") as made:
        paths = ("report", "gate", "resilience/reset", "resilience/lock")
        for path in paths:
            assert made.client.post(f"/api/{path}", json={}).status_code == 401
        assert made.client.get("/api/monitoring/health").status_code == 401
        headers = {"authorization": "Bearer t0ken"}
        assert made.client.get("/api/monitoring/health", headers=headers).status_code == 200


def _chat(made: Gateway) -> httpx.Response:
    return httpx.post(
        f"{made.url}/v1/chat/completions", json={"model": "coding", "messages": []}, timeout=10, trust_env=False
    )
