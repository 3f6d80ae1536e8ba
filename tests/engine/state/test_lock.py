"""Lock keys are those verdicts name."""

from __future__ import annotations

import pytest

from faultwise.engine.failure.record import Failure
from faultwise.engine.policy.policy import Policy
from faultwise.engine.state.growth import growth
from faultwise.engine.state.lock import Identity, Lock
from faultwise.engine.verdict.decide import decide


@pytest.mark.parametrize(("status", "scope"), [(401, "connection"), (404, "model"), (500, "provider")])
def test_the_key_of_an_identity_is_the_lock_key_of_the_verdict(shipped: Policy, status: int, scope: str) -> None:
    failure = Failure(provider="acme", connection="c", model="m", host="a.example", status=status)
    verdict = decide(shipped, failure)
    assert verdict.scope == scope
    assert Identity("acme", "c", "m", "a.example").key(scope) == verdict.lock_key


def test_growth_is_that_of_the_scope_and_the_class_of_credential(shipped: Policy) -> None:
    verdict = decide(shipped, Failure(provider="acme", connection="c", model="m", status=429))
    assert [growth(shipped, verdict, auth).levels for auth in ("oauth", "api_key", "none")] == [8, 5, 5]
    missing = decide(shipped, Failure(provider="acme", connection="c", model="m", status=404))
    assert growth(shipped, missing, "api_key").levels == 10


def test_a_lock_shows_what_it_is() -> None:
    lock = Lock("k", "model", "p", "c", "m", "r", "rule", 429, 1.0, 2.0, True, True, True)
    assert lock.to_json()["expires_at"] == 2.0 and lock.to_json()["key"] == "k"
