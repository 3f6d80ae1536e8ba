"""The window gate: many failures of a provider close it for a while. Opt-in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwise.engine.state.gate import Gate
from faultwise.engine.state.thresholds import BreakerLimits, GateLimits

from .world import NOW, WHO, World, fault, verdict

SIBLING = replace(WHO, connection="other")


@pytest.fixture
def world(world: World) -> World:
    gate = GateLimits(failures=10, window=900.0, cooldown=300.0, enabled=True)
    world.limits = replace(world.limits, gate=gate, breaker=BreakerLimits(enabled=False))
    return world


def test_it_closes_at_its_threshold_and_counts_from_that_failure(world: World) -> None:
    for _ in range(9):
        world.fail(fault())
        world.tick(30)
        assert world.word(SIBLING) is None
    world.fail(fault())
    world.tick(299)
    assert world.word(SIBLING) == "provider_cooldown"
    world.tick(1)
    assert world.word(SIBLING) is None


def test_failures_older_than_the_window_do_not_count(world: World) -> None:
    for _ in range(30):
        world.fail(fault())
        world.tick(101)
        assert world.word(SIBLING) is None


def test_a_success_clears_the_window(world: World) -> None:
    for _ in range(9):
        world.fail(fault())
    world.ok(SIBLING)
    for _ in range(9):
        world.fail(fault())
    assert world.word(SIBLING) is None


def test_the_connection_that_failed_backs_off_from_5_to_300_seconds(world: World) -> None:
    lengths = []
    for _ in range(8):
        world.fail(fault())
        found = world.state.gates.table.rows[WHO.account]
        lengths.append(round(found.until - found.since))
        assert world.word() == "provider_cooldown"
        world.tick(2000)
    assert lengths == [5, 10, 20, 40, 80, 160, 300, 300]
    world.ok()
    assert WHO.account not in world.state.gates.table.rows


def test_concurrent_failures_of_a_connection_are_one_step(world: World) -> None:
    for _ in range(5):
        world.fail(fault(), started=NOW - 1)
    assert world.state.gates.table.rows[WHO.account].level == 0


def test_failures_of_accounts_and_models_are_none_of_its_business(world: World) -> None:
    for _ in range(30):
        world.fail(verdict(scope="model"))
    assert world.state.gates.table.rows == {}


def test_it_is_off_where_nobody_asked_for_it(world: World) -> None:
    world.limits = replace(world.limits, gate=GateLimits(failures=1))
    for _ in range(30):
        world.fail(fault())
    assert world.word() is None and world.state.gates.table.rows == {}


def test_a_clock_that_is_put_back_does_not_keep_it_closed_for_longer(world: World) -> None:
    for _ in range(10):
        world.fail(fault())
    world.tick(-5000)
    assert world.word(SIBLING) == "provider_cooldown"
    world.tick(300)
    assert world.word(SIBLING) is None


def test_it_is_opened_by_hand(world: World) -> None:
    for _ in range(10):
        world.fail(fault())
    assert world.state.clear(NOW, provider="acme") == ["gate:acme@api.acme.example", "gate:acme/relay"]
    assert world.word() is None


def test_it_survives_its_store() -> None:
    gate = Gate("k", "acme", times=(1.0, 2.0), since=3.0, until=4.0, level=2)
    assert Gate.from_data(gate.to_data() | {"new": 1}) == gate
    assert gate.to_json()["failures"] == 2
