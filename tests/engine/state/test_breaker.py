"""Circuits: what opens them, what lets a probe through, what closes them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from faultwise.engine.state.breaker import CLOSED, DEGRADED, HALF_OPEN, NEXT, OPEN, TRANSITIONS, Breaker
from faultwise.engine.state.lock import Exclusion
from faultwise.engine.state.thresholds import BreakerLimits

from .world import NOW, WHO, World, fault, network, stated, verdict

SIBLING = replace(WHO, connection="other")
AWAY = replace(WHO, host="elsewhere.example", connection="third")


def opened(world: World) -> None:
    for _ in range(world.limits.breaker.opens_at):
        world.fail(fault())
    assert world.circuit() == OPEN


def trials(world: World) -> tuple[Exclusion, ...]:
    return world.view().trials


def test_the_table_can_be_read_aloud() -> None:
    assert {state: set(steps.values()) for state, steps in NEXT.items()} == {
        CLOSED: {DEGRADED, OPEN},
        DEGRADED: {CLOSED, OPEN},
        OPEN: {HALF_OPEN, OPEN, CLOSED},
        HALF_OPEN: {CLOSED, OPEN},
    }


def test_enough_failures_in_the_window_open_it_for_every_connection_at_that_host(world: World) -> None:
    for number in range(11):
        world.fail(fault())
        assert world.circuit() == (CLOSED if number < 6 else DEGRADED)
    world.fail(fault())
    assert world.word() == world.word(SIBLING) == "circuit_open"
    assert world.word(AWAY) is None


def test_a_degraded_provider_ranks_behind_others_and_recovers_with_time(world: World) -> None:
    for _ in range(7):
        world.fail(fault())
    assert world.view().degraded and world.word() is None
    assert world.view(SIBLING).degraded and not world.view(AWAY).degraded
    world.tick(130)
    assert not world.view().degraded
    assert world.circuit() == CLOSED


def test_twelve_failures_over_twelve_days_stay_closed(world: World) -> None:
    for _ in range(12):
        world.fail(fault())
        world.tick(86_400)
        assert world.circuit() == CLOSED


def test_a_hundred_requests_a_second_with_a_promille_of_errors_stay_closed(plain: World) -> None:
    dice = random.Random(7)
    for _ in range(600 * 100):
        plain.tick(0.01)
        if dice.random() < 0.001:
            plain.fail(fault())
        else:
            plain.ok()
    assert plain.circuit() == CLOSED
    found = plain.state.circuits.table.rows[WHO.circuit]
    assert found.transitions == ()


def test_half_of_the_outcomes_must_be_failures(world: World) -> None:
    for _ in range(13):
        world.ok()
    for _ in range(12):
        world.fail(fault())
    assert world.circuit() == CLOSED
    world.fail(fault())
    assert world.circuit() == OPEN


def test_only_failures_of_the_provider_count(world: World) -> None:
    for one in (verdict(), verdict(reason="auth_error", upstream_status=401), verdict(phase="local")):
        for _ in range(30):
            world.fail(one)
    assert world.state.circuits.table.rows == {}


def test_failures_of_an_account_are_outcomes_that_dilute(world: World) -> None:
    for _ in range(13):
        world.fail(verdict(scope="model"))
    for _ in range(12):
        world.fail(fault())
    assert world.circuit() == CLOSED


def test_one_probe_at_a_time_passes_a_half_open_circuit(world: World) -> None:
    opened(world)
    world.tick(29)
    assert world.word() == "circuit_open"
    world.tick(1)
    assert world.word() == "trial"
    assert world.state.claim(trials(world), "first", world.now) is None
    refused = world.state.claim(trials(world), "second", world.now)
    assert refused is not None and refused.word == "circuit_open"


def test_a_probe_that_works_closes_it(world: World) -> None:
    opened(world)
    world.tick(30)
    held = trials(world)
    world.state.claim(held, "first", world.now)
    world.ok(trials=tuple(one.trial for one in held), owner="first")
    assert world.circuit() == CLOSED and world.word() is None
    assert world.state.circuits.table.rows[WHO.circuit].window == ()


def test_a_probe_that_fails_opens_it_again(world: World) -> None:
    opened(world)
    world.tick(30)
    world.fail(fault())
    assert world.circuit() == OPEN
    world.tick(29)
    assert world.word() == "circuit_open"


@pytest.mark.parametrize("end", ["nothing", "account", "network"])
def test_any_outcome_of_a_probe_returns_its_permit(world: World, end: str) -> None:
    opened(world)
    world.tick(30)
    held = trials(world)
    world.state.claim(held, "first", world.now)
    given = {"trials": tuple(one.trial for one in held), "owner": "first"}
    if end == "nothing":
        world.state.report(outcome_of_nothing(world, **given))
    elif end == "account":
        world.fail(verdict(scope="model", upstream_status=429), **given)
    else:
        world.fail(network(), **given)
        world.tick(30)
    world.state.store.flush(5)
    if end == "account":
        assert world.circuit() == CLOSED  # it answered
    else:
        assert world.state.claim(trials(world), "second", world.now) is None


def outcome_of_nothing(world: World, **given: object) -> object:
    from faultwise.engine.state.outcome import Outcome

    return Outcome(WHO, world.limits, world.now, world.now, **given)  # type: ignore[arg-type]


def test_a_probe_that_hangs_returns_its_permit_at_its_deadline(world: World) -> None:
    opened(world)
    world.tick(30)
    assert world.state.claim(trials(world), "hangs", world.now) is None
    world.tick(89)
    assert world.state.claim(trials(world), "second", world.now) is not None
    world.tick(1)
    assert world.state.claim(trials(world), "second", world.now) is None


def test_its_wait_grows_with_failed_probes_up_to_a_bound(plain: World) -> None:
    opened(plain)
    lengths = []
    for _ in range(8):
        found = plain.state.circuits.table.rows[WHO.circuit]
        lengths.append(found.until - found.opened)
        plain.now = found.until
        plain.fail(fault())
    assert lengths == [30, 30, 30, 30, 60, 120, 120, 120]
    plain.now = plain.state.circuits.table.rows[WHO.circuit].until
    plain.ok()
    opened(plain)
    found = plain.state.circuits.table.rows[WHO.circuit]
    assert found.until - found.opened == 30


def test_a_stated_wait_opens_it_for_as_long(world: World) -> None:
    world.fail(stated(600, scope="provider", reason="overloaded", fault="provider"), draw=0.0)
    found = world.view().exclusion
    assert found is not None and found.lock is not None
    assert (found.word, found.lock.left(NOW), found.lock.reason) == ("circuit_open", 600, "overloaded")
    world.tick(1)
    world.fail(stated(5, scope="provider"), draw=0.0)
    world.tick(598)
    assert world.word() == "circuit_open"
    world.tick(1)
    assert world.word() == "trial"


def test_a_longer_stated_wait_is_taken_from_attempts_that_started_before(world: World) -> None:
    opened(world)
    world.fail(stated(900, scope="provider"), started=NOW - 5, draw=0.0)
    found = world.state.circuits.table.rows[WHO.circuit]
    assert (found.until, found.cycles) == (NOW + 900, 0)
    assert len(found.transitions) == 2  # degraded, open


def test_failures_of_attempts_that_started_before_it_opened_say_nothing(world: World) -> None:
    began = world.now - 1
    opened(world)
    world.tick(30)
    assert world.circuit() == HALF_OPEN
    assert world.fail(fault(), started=began) == ()
    world.ok(started=began)
    assert world.circuit() == HALF_OPEN


def test_a_success_seen_while_it_is_open_closes_it(world: World) -> None:
    opened(world)
    world.tick(1)
    world.ok()
    assert world.circuit() == CLOSED


def test_a_network_failure_of_a_declared_egress_counts_for_the_egress(world: World) -> None:
    who = replace(WHO, egress="out-1")
    beside = replace(SIBLING, egress="out-2")
    for _ in range(12):
        world.fail(network(), who)
    assert world.word(who) == "egress_cooldown"
    assert world.word(replace(SIBLING, egress="out-1")) == "egress_cooldown"
    assert world.word(beside) is None and world.word() is None
    world.tick(30)
    assert world.word(who) == "trial"
    world.fail(fault(), who)  # the provider failed, so the way there works
    assert world.word(who) is None


def test_without_a_declared_egress_it_counts_for_the_provider(world: World) -> None:
    for _ in range(12):
        world.fail(network())
    assert world.word() == "circuit_open"


def test_a_clock_that_is_put_back_does_not_keep_it_open_for_longer(world: World) -> None:
    opened(world)
    world.tick(-7200)
    assert world.word() == "circuit_open"
    world.tick(30)
    assert world.word() == "trial"


def test_it_can_be_switched_off(world: World) -> None:
    world.limits = replace(world.limits, breaker=BreakerLimits(enabled=False))
    for _ in range(50):
        world.fail(fault())
    assert world.word() is None and world.state.circuits.table.rows == {}
    world.limits = replace(world.limits, breaker=BreakerLimits(opens_at=1))
    world.fail(fault())
    assert world.word() == "circuit_open"
    world.limits = replace(world.limits, breaker=BreakerLimits(enabled=False))
    assert world.word() is None


def test_thresholds_that_change_hold_from_the_next_decision_on(world: World) -> None:
    for _ in range(6):
        world.fail(fault())
    world.limits = replace(world.limits, breaker=BreakerLimits(opens_at=7))
    assert world.word() is None
    world.fail(fault())
    assert world.word() == "circuit_open"


def test_its_last_transitions_are_kept_with_their_reasons(plain: World) -> None:
    opened(plain)
    for _ in range(TRANSITIONS):
        plain.now = plain.state.circuits.table.rows[WHO.circuit].until
        plain.fail(fault())
    found = plain.state.circuits.table.rows[WHO.circuit]
    assert len(found.transitions) == TRANSITIONS
    assert found.transitions[-1].why == "failure: the probe failed: server_error"
    assert [one.after for one in found.transitions[-2:]] == [HALF_OPEN, OPEN]
    assert Breaker.from_data(found.to_data() | {"new": 1}) == found
    assert found.to_json()["transitions"][0]["why"]


def test_it_is_closed_by_hand(world: World) -> None:
    opened(world)
    assert world.state.clear(world.now, provider="acme") == [WHO.circuit]
    assert world.word() is None
    assert world.state.circuits.table.rows[WHO.circuit].transitions[-1].why == "reset: by hand"


def test_successes_are_counted_in_a_bounded_memory(plain: World) -> None:
    for _ in range(1000):
        plain.tick(5)
        plain.ok()
    assert len(plain.state.circuits._tallies[WHO.circuit]) <= 256
