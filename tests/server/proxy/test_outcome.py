"""What a client is told is chosen from what was attempted and what was not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faultwise.engine.policy.policy import Policy
from faultwise.engine.state.lock import Exclusion, Lock
from faultwise.engine.state.thresholds import Thresholds
from faultwise.engine.verdict.verdict import Verdict
from faultwise.server.gateway import Connection
from faultwise.server.proxy.answers import RECOVERY, body, event, headers, recovery
from faultwise.server.proxy.endpoint import ENDPOINTS
from faultwise.server.proxy.outcome import Attempted, Excluded, Ledger, Outcome, Said, outcome
from faultwise.server.proxy.target import Target, target

VERDICT = Verdict(
    id=None,
    provider="acme",
    connection="c",
    model="m",
    phase="response",
    status=429,
    upstream_status=429,
    reason="rate_limit_exceeded",
    fault="account",
    scope="connection",
    lock_key="acme/c",
    temporary=True,
    terminal=None,
    fallback=True,
    wait_ok=True,
    counts_for_breaker=False,
    proven=True,
    cooldown_s=30.0,
    cooldown_source="header",
    retry_after_s=30.0,
    stated_s=30.0,
    stated_source="header",
    rule="acme-limit",
    layer="default",
    restated_by=None,
    policy="sha256:0",
)
LOCK = Lock(
    key="acme/c",
    scope="connection",
    provider="acme",
    connection="c",
    model=None,
    reason="rate_limit_exceeded",
    rule="acme-limit",
    status=429,
    since=0.0,
    until=30.0,
    known=True,
    temporary=True,
    wait_ok=True,
)


@pytest.fixture
def one(shipped: Policy) -> Target:
    return target(shipped, Connection("c", "acme", "https://a.example"), "m", Thresholds("api_key"))


def attempted(one: Target, message: str = "slow down", **changes: Any) -> Attempted:
    return Attempted(one, VERDICT._replace(**changes), Said(message))


def excluded(one: Target, left: float | None, word: str = "connection_cooldown", **changes: Any) -> Excluded:
    return Excluded(one, Exclusion(word, replace(LOCK, **changes)), left)


def told(*rows: Attempted | Excluded) -> tuple[int, str, int | None]:
    ledger = Ledger(
        [row for row in rows if isinstance(row, Attempted)], [row for row in rows if isinstance(row, Excluded)]
    )
    found = outcome(ledger)
    return found.status, found.reason, found.retry_after_header


QUOTA = {"reason": "quota_exhausted", "wait_ok": False}
SERVER = {"reason": "server_error", "status": 500, "retry_after_s": None}
TIMEOUT = {"reason": "timeout", "status": 504, "retry_after_s": None}
BROKE = {
    "reason": "credits_exhausted",
    "status": 402,
    "temporary": False,
    "wait_ok": False,
    "terminal": "credits_exhausted",
}


def test_nothing_executable_and_no_timer_is_404(one: Target) -> None:
    assert told() == (404, "no_executable_targets", None)
    assert told(Excluded(one, Exclusion("unavailable"))) == (404, "no_executable_targets", None)


def test_all_waiting_is_503_with_the_earliest_known_end(one: Target) -> None:
    assert told(excluded(one, 40.2), excluded(one, 20.5)) == (503, "all_targets_cooling_down", 21)
    assert told(excluded(one, 40.2), excluded(one, None)) == (503, "all_targets_cooling_down", 41)
    assert told(excluded(one, None)) == (503, "all_targets_cooling_down", None)
    assert told(excluded(one, 40.0), attempted(one, **SERVER)) == (503, "all_targets_cooling_down", 40)


def test_a_wait_is_never_told_as_less_than_a_second(one: Target) -> None:
    assert told(excluded(one, 0.01)) == (503, "all_targets_cooling_down", 1)


def test_a_single_kind_keeps_its_status_and_its_wait(one: Target) -> None:
    assert told(attempted(one)) == (429, "rate_limit_exceeded", 30)
    assert told(attempted(one), attempted(one, retry_after_s=10.0)) == (429, "rate_limit_exceeded", 10)
    assert told(attempted(one), excluded(one, 5.0)) == (429, "rate_limit_exceeded", 5)
    assert told(excluded(one, 50.0, **QUOTA), excluded(one, 9.0, **QUOTA)) == (429, "quota_exhausted", 9)
    assert told(attempted(one, **SERVER)) == (500, "server_error", None)


def test_a_terminal_state_has_no_wait(one: Target) -> None:
    assert told(excluded(one, None, "terminal", **BROKE)) == (402, "credits_exhausted", None)


def test_several_kinds_are_502_or_504_without_a_wait(one: Target) -> None:
    assert told(attempted(one, **QUOTA), attempted(one, **SERVER)) == (502, "all_targets_failed", None)
    assert told(attempted(one, **QUOTA), attempted(one, **TIMEOUT)) == (504, "all_targets_failed", None)
    assert told(excluded(one, 5.0, **QUOTA), attempted(one, **SERVER)) == (502, "all_targets_failed", None)


def test_what_every_target_said_is_in_the_message_of_a_mixture(one: Target) -> None:
    ledger = Ledger([attempted(one, "out of quota", **QUOTA), attempted(one, "boom", **SERVER)])
    assert "429 out of quota; acme/m: 500 boom" in outcome(ledger).said.message


def test_an_upstreams_line_breaks_do_not_reach_a_header() -> None:
    found = headers("id", 1, "acme/m\r\nx-evil: 1", Outcome(429, "r\n", Said(""), "rule\r"))
    assert all(b"\r" not in value and b"\n" not in value for _, value in found)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_every_wire_has_a_body_and_an_event(endpoint: Any, one: Target) -> None:
    found = Outcome(429, "rate_limit_exceeded", Said("slow\n\ndown"), "rule", 3.0)
    assert b"slow" in body(endpoint, found, Ledger([attempted(one)]), "id")
    sent = event(endpoint, found, True, 7, "id")
    assert sent.endswith(b"\n\n") and b'"bytes_sent": 7' in sent and b"slow\n" not in sent


@pytest.mark.parametrize("status", [400, 404, 413, 415, 422, 431])
def test_a_request_that_is_refused_as_it_is_has_to_be_mended(status: int) -> None:
    for reason in ("model_missing", "invalid_request", "a-reason-of-the-operator"):
        hint = recovery(Outcome(status, reason, Said("no")))
        assert hint["action"] == "change_request" and "mend the request" in str(hint["next_step"])


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_says_nothing_against_the_request_may_be_sent_again(status: int) -> None:
    assert recovery(Outcome(status, "made_up", Said("no")))["action"] == "retry"


def test_no_reason_about_the_request_is_answered_with_trying_again(shipped: Policy) -> None:
    for reason in shipped.reasons.values():
        if reason.lock == "request" and reason.status not in (429, 499):
            hint = recovery(Outcome(reason.status, reason.name, Said("no")))
            assert hint["action"] == "change_request", reason.name
    assert all(len(row) == 2 for row in RECOVERY.values())
