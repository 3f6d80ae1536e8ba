"""A profile changes how a truth is put; it never invents a wait, never makes one longer, and says where it put it so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.intake import intake
from faultwise.engine.failure.record import Headers
from faultwise.engine.policy.client import GENERIC, Caller, Client, Telling, Truth
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import decide
from faultwise.engine.verdict.told import Told, told, truth

LIMIT = Truth(429, "quota_exhausted", "account", True, 3600.0, "limit", "rate_limit_error", "Used up")


def client(over: Callable[..., Policy], keys: str) -> Client:
    """A client with one restatement of 429 that says `keys`."""
    row = f"{{id: x, restatements: [{{id: x-limit, from: 429, {keys}}}]}}"
    return over({"c.yaml": f"faultwise: 1\nkind: clients\nclients:\n  - {row}\n"}, shipped=False).clients[0]


def says(over: Callable[..., Policy], keys: str, truth: Truth = LIMIT, **caller: Any) -> Told:
    return told(client(over, keys), Caller(**caller), truth)


def test_without_a_profile_everything_is_told_as_it_is() -> None:
    assert told(GENERIC, Caller(), LIMIT) == Told(429, retry_after=3600.0)


def test_a_status_that_is_not_named_is_told_as_it_is(over: Callable[..., Policy]) -> None:
    found = says(over, "to: 503", replace(LIMIT, status=402))
    assert found == Told(402, retry_after=3600.0, client="x")


def test_a_shorter_wait_is_told_beside_the_true_one(over: Callable[..., Policy]) -> None:
    found = says(over, "retry_after: 60s")
    assert (found.status, found.retry_after, found.restated_by) == (429, 60.0, "x-limit")
    assert ("x-faultwise-retry-after", "3600") in found.headers


def test_a_wait_is_never_invented(over: Callable[..., Policy]) -> None:
    found = says(over, "retry_after: 60s", replace(LIMIT, retry_after=None))
    assert found.retry_after is None
    assert "x-faultwise-retry-after" not in dict(found.headers)


def test_a_wait_is_never_made_longer(over: Callable[..., Policy]) -> None:
    found = says(over, "retry_after: 2h")
    assert found.retry_after == 3600.0
    assert "x-faultwise-retry-after" not in dict(found.headers)


def test_a_wait_can_be_left_out_and_is_still_said(over: Callable[..., Policy]) -> None:
    found = says(over, "retry_after: none", replace(LIMIT, retry_after=0.2))
    assert found.retry_after is None
    assert ("x-faultwise-retry-after", "1") in found.headers


def test_a_wait_can_be_computed_from_the_true_one(over: Callable[..., Policy]) -> None:
    assert says(over, 'retry_after: "min(retry_after, 90s)"').retry_after == 90.0


def test_another_status_is_told_beside_the_true_one(over: Callable[..., Policy]) -> None:
    found = says(over, "to: 503, code: busy, type: server_error, headers: {X-Should-Retry: 'true'}")
    assert (found.status, found.code, found.type, found.retry_after) == (503, "busy", "server_error", 3600.0)
    assert dict(found.headers) == {
        "x-should-retry": "true",
        "x-faultwise-told-by": "x-limit",
        "x-faultwise-status": "429",
    }


def test_the_same_status_needs_no_header(over: Callable[..., Policy]) -> None:
    assert "x-faultwise-status" not in dict(says(over, "to: 429").headers)


@pytest.mark.parametrize(("wait", "shown"), [(3600.0, "1h"), (None, "an unknown time"), (61.4, "1m1s")])
def test_a_hint_says_what_is_true(over: Callable[..., Policy], wait: float | None, shown: str) -> None:
    found = says(over, 'to: 503, hint: "{reason} ({status}): {wait}"', replace(LIMIT, retry_after=wait))
    assert found.hint == f"quota exhausted (429): {shown}"


@pytest.mark.parametrize(
    "condition",
    [
        "when: reason == 'quota_exhausted' and fault == 'account' and temporary and retry_after > 60s",
        "when: code == 'LIMIT' and type == 'rate_limit_error' and message has 'used  UP' and status == 429",
        "any: [used up], all: [limit, rate_limit_error], none: [banned]",
        "when: header['X-App'] == 'cli' and wire == 'openai' and endpoint == 'chat'",
    ],
)
def test_conditions_see_what_happened_and_who_asked(over: Callable[..., Policy], condition: str) -> None:
    asked = {"headers": Headers({"x-app": "cli"}), "wire": "openai", "endpoint": "chat"}
    condition = condition.replace("'", '"').replace("when: ", "when: '") + ("'" if "when" in condition else "")
    assert says(over, f"to: 503, {condition}", **asked).status == 503
    other = Truth(429, "overloaded", "provider", False, 5.0, message="banned")
    assert says(over, f"to: 503, {condition}", other).status == 429


def test_what_is_not_known_holds_for_no_condition(over: Callable[..., Policy]) -> None:
    bare = Truth(429, "all_targets_failed")
    for when in ("temporary", "temporary == false", "retry_after < 1h", 'text has "a b"', 'fault == "account"'):
        assert says(over, f"to: 503, when: '{when}'", bare).status == 429


def test_the_first_restatement_that_matches_counts(over: Callable[..., Policy]) -> None:
    rows = "[{id: a, from: 429, to: 500, when: 'retry_after < 1s'}, {id: b, from: 4xx, to: 503}, {id: c, from: 429}]"
    policy = over({"c.yaml": f"faultwise: 1\nkind: clients\nclients:\n  - {{id: x, restatements: {rows}}}\n"})
    (found,) = [one for one in policy.clients if one.id == "x"]
    assert told(found, Caller(), LIMIT).restated_by == "b"


def test_the_text_is_made_once_and_folded() -> None:
    telling = Telling(Caller(), LIMIT)
    assert telling.folded == "limit rate_limit_error used up"
    assert telling.folded is telling.folded


def test_the_truth_of_a_verdict(shipped: Policy) -> None:
    failure = intake({"provider": "agentrouter", "status": 403, "body": {"error": {"message": "用户额度不足"}}}, 0.0)
    assert truth(decide(shipped, failure)) == Truth(429, "quota_exhausted", "account", True, 60.0)


@given(
    status=st.integers(400, 599),
    reason=st.sampled_from(["quota_exhausted", "rate_limit_exceeded", "auth_error", "overloaded", "unknown"]),
    fault=st.sampled_from([None, "account", "credential", "edge", "provider"]),
    temporary=st.sampled_from([None, True, False]),
    wait=st.none() | st.floats(0.001, 3e6),
    code=st.sampled_from([None, "slow_down", "server_is_overloaded", "x"]),
)
def test_no_shipped_profile_lies(
    shipped: Policy,
    status: int,
    reason: str,
    fault: str | None,
    temporary: bool | None,
    wait: float | None,
    code: str | None,
) -> None:
    true = Truth(status, reason, fault, temporary, wait, code)
    for one in shipped.clients:
        found = told(one, Caller(wire=one.wire), true)
        sent = dict(found.headers)
        assert found.status == status or sent["x-faultwise-status"] == str(status)
        if found.retry_after != wait:
            assert wait is not None and (found.retry_after is None or found.retry_after < wait)
            assert int(sent["x-faultwise-retry-after"]) >= wait
        assert (found.restated_by is None) == (not found.headers)
