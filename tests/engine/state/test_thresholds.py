"""The numbers: shipped ones, and what lies over them."""

from __future__ import annotations

import pytest

from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.profiles import out_of_bounds
from faultwise.engine.state.thresholds import Backoff, BreakerLimits, GateLimits, ModelLimits, Thresholds, thresholds

CAP = 1800.0


def test_the_shipped_numbers(shipped: Policy) -> None:
    found = {auth: thresholds(shipped.profiles, auth, CAP) for auth in ("oauth", "api_key", "local")}
    assert {auth: one.breaker for auth, one in found.items()} == {
        "oauth": BreakerLimits(8, 5, 120, 0.5, 60, 2, 8, 90),
        "api_key": BreakerLimits(12, 7, 120, 0.5, 30, 3, 4, 90),
        "local": BreakerLimits(2, None, 120, 0.5, 15, 0, 1, 90),
    }
    assert {auth: one.gate for auth, one in found.items()} == {
        "oauth": GateLimits(10, 900, 300, 5, 300),
        "api_key": GateLimits(15, 1800, 600, 5, 300),
        "local": GateLimits(2, 300, 60, 5, 300),
    }
    assert [found[auth].cooldown for auth in found] == [Backoff(5, 8), Backoff(3, 5), Backoff(3, 5)]
    assert found["api_key"].model == ModelLimits() == ModelLimits(Backoff(120, 10, 1800))


@pytest.mark.parametrize(("auth", "profile"), [("session", "oauth"), ("none", "api_key"), ("local", "local")])
def test_classes_without_a_row_count_as_another(shipped: Policy, auth: str, profile: str) -> None:
    assert thresholds(shipped.profiles, auth, CAP).breaker == thresholds(shipped.profiles, profile, CAP).breaker


def test_later_layers_lie_over_earlier_ones_key_by_key(shipped: Policy) -> None:
    over = [
        {"all": {"gate": {"enabled": True}}, "oauth": {"breaker": {"opens_at": 3}}, "model": {"enabled": True}},
        {"all": {"breaker": {"reset": 7.0}, "money_terminal": False}},
    ]
    found = thresholds(shipped.profiles, "oauth", CAP, over)
    assert (found.breaker.opens_at, found.breaker.degraded_at, found.breaker.reset) == (3, 5, 7.0)
    assert found.gate.enabled and found.model.enabled and not found.money_terminal


def test_no_made_up_wait_is_longer_than_the_cap() -> None:
    found = thresholds({"api_key": {"cooldown": {"max": 7200.0}}}, "api_key", CAP)
    assert found == Thresholds("api_key", cooldown=Backoff(3, 5, 1800.0))


@pytest.mark.parametrize(
    ("name", "profile", "message"),
    [
        ("oauth", {"breaker": {"window": 1.0}}, "`window` is 1 s: it must be from 10 to 900 s"),
        ("oauth", {"breaker": {"ratio": 2.0}}, "`ratio` is 2: it must be from 0 to 1"),
        ("oauth", {"breaker": {"opens_at": 3, "degraded_at": 5}}, "`degraded_at` is more than `opens_at`"),
        ("local", {"gate": {"failures": 0}}, "`failures` is 0: it must be from 1 to 10000"),
        ("api_key", {"cooldown": {"base": 5.0, "max": 2.0}}, "`max` is less than `base`"),
        ("model", {"cooldown": {"base": 1.0}}, "`base` is 1 s: it must be from 5 to 600 s"),
        ("model", {"cooldown": {"levels": 21}}, "`levels` is 21: it must be from 0 to 20"),
        ("model", {"local": 0.5}, "`local` is 0.5 s: it must be from 1 to 3600 s"),
    ],
)
def test_every_number_has_bounds(name: str, profile: dict[str, object], message: str) -> None:
    assert [said for _, said in out_of_bounds(name, profile)] == [message]


def test_the_shipped_profiles_are_within_them(shipped: Policy) -> None:
    assert [found for name, profile in shipped.profiles.items() for found in out_of_bounds(name, profile)] == []
