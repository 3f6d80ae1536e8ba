"""Locks: monotone merging, one step for a herd, levels that only success resets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwise.engine.policy.policy import Policy
from faultwise.engine.state import table
from faultwise.engine.state.lock import HISTORY, Identity, Lock
from faultwise.engine.state.state import State
from faultwise.engine.state.thresholds import Backoff, BreakerLimits, ModelLimits, Thresholds
from faultwise.engine.store.memory import Memory

from .world import NOW, WHO, World, banned, broke, fault, stated, verdict

OTHER = replace(WHO, connection="other")


def test_a_failure_closes_its_connection_until_the_wait_is_over(world: World) -> None:
    world.fail(stated(60), draw=0.0)
    world.tick(59)
    assert world.word() == "connection_cooldown"
    world.tick(1)
    assert world.word() is None


def test_nothing_is_closed_where_nothing_failed(world: World) -> None:
    assert world.word() is None
    assert world.state.healthy(WHO.account)


def test_another_connection_of_the_provider_stays_open(world: World) -> None:
    world.fail(stated(60))
    assert world.word(OTHER) is None
    assert world.state.healthy(OTHER.account)


@pytest.mark.parametrize(
    ("scope", "word"),
    [
        ("model", "model_lockout"),
        ("model_family", "model_lockout"),
        ("connection", "connection_cooldown"),
        ("egress", "egress_cooldown"),
        ("provider", "circuit_open"),
        ("host", "circuit_open"),
    ],
)
def test_each_scope_closes_its_targets_under_its_own_word(world: World, scope: str, word: str) -> None:
    who = replace(WHO, egress="out-1", family="small")
    world.fail(stated(60, scope=scope, reason="edge_blocked" if scope == "egress" else "overloaded"), who)
    assert world.word(who) == word


def test_without_breakers_a_stated_wait_of_a_provider_is_a_lock(plain: World) -> None:
    plain.limits = replace(plain.limits, breaker=BreakerLimits(enabled=False))
    plain.fail(stated(60, scope="provider"))
    assert plain.word() == plain.word(OTHER) == "provider_cooldown"


def test_a_model_lock_leaves_the_other_models_of_the_account_open(world: World) -> None:
    world.fail(stated(60, scope="model"))
    assert world.word() == "model_lockout"
    assert world.word(replace(WHO, model="n")) is None


def test_an_egress_lock_closes_every_connection_behind_it_towards_that_host_only(world: World) -> None:
    edge = stated(60, scope="egress", reason="edge_blocked")
    world.fail(edge, replace(WHO, egress="out-1"))
    assert world.word(replace(OTHER, egress="out-1")) == "egress_cooldown"
    assert world.word(replace(WHO, connection="third", egress="out-1", host="other.example")) is None
    assert world.word(replace(WHO, connection="fourth")) is None


def test_without_an_egress_identity_only_the_failing_connection_is_closed(world: World) -> None:
    world.fail(stated(60, scope="egress", reason="edge_blocked"))
    assert world.word() is not None
    assert world.word(OTHER) is None


def test_a_request_scoped_verdict_locks_nothing(world: World) -> None:
    assert world.fail(verdict(scope="request", cooldown_s=None)) == ()
    assert world.fail(verdict(reason="not_an_error", scope="request")) == ()
    assert world.fail(verdict(phase="local", reason="client_gone")) == ()
    assert list(world.locks()) == []


def test_a_provider_failure_without_a_stated_wait_is_only_counted(world: World) -> None:
    world.fail(fault())
    assert list(world.locks()) == []
    assert world.word() is None


def test_repeated_backoff_doubles_up_to_its_levels_and_its_cap(plain: World) -> None:
    lengths = []
    for _ in range(8):
        plain.fail(verdict())
        lengths.append(round(plain.length()))
        plain.tick(10_000)
    assert lengths == [3, 6, 12, 24, 48, 96, 96, 96]
    plain.limits = replace(plain.limits, cooldown=Backoff(3.0, 20, 50.0))
    plain.fail(verdict())
    assert round(plain.length()) == 50


def test_backoff_grows_across_cooldowns_and_resets_on_success(world: World) -> None:
    world.fail(verdict())
    world.tick(100)
    world.fail(verdict())
    assert world.lock().level == 1
    world.tick(100)
    world.ok()
    world.fail(verdict())
    assert world.lock().level == 0


def test_twenty_concurrent_429s_are_one_step(world: World) -> None:
    began = world.now - 1
    for _ in range(20):
        world.tick(0.01)
        world.fail(verdict(), started=began)
    world.state.store.flush(5)
    assert world.lock().level == 0
    assert world.lock().until == pytest.approx(NOW + 0.01 + 3, abs=0.001)
    assert len(world.lock().history) == 1


def test_a_concurrent_failure_that_states_a_longer_wait_is_taken(world: World) -> None:
    world.fail(verdict(), started=NOW - 1)
    world.tick(1)
    world.fail(stated(600), started=NOW - 1, draw=0.0)
    assert world.lock().until == NOW + 601
    assert world.lock().known and world.lock().level == 0


def test_a_ban_arriving_in_a_cooldown_of_3_s_wins(world: World) -> None:
    world.fail(verdict(), started=NOW - 1)
    world.tick(1)
    world.fail(banned(), started=NOW - 1)
    world.tick(10**9)
    assert world.word() == "terminal"


def test_an_explicit_longer_end_is_never_shortened(world: World) -> None:
    world.fail(stated(600), draw=0.0)
    world.tick(1)
    world.fail(stated(5))
    world.fail(verdict())
    assert world.lock().until == NOW + 600


def test_a_terminal_state_is_not_overwritten(world: World) -> None:
    world.fail(banned())
    world.tick(10)
    assert world.fail(stated(5)) == ()
    assert world.lock().terminal == "banned"


def test_a_success_does_not_end_a_ban(world: World) -> None:
    world.fail(banned())
    world.tick(1)
    world.ok()
    assert world.word() == "terminal"


def test_a_success_that_started_before_the_lock_says_nothing_about_it(world: World) -> None:
    world.fail(stated(60))
    assert world.ok(started=NOW - 1) == ()
    assert world.word() == "connection_cooldown"


def test_a_success_halves_the_failures_of_a_model(world: World) -> None:
    for _ in range(4):
        world.fail(verdict(scope="model"))
        world.tick(10_000)
    levels = []
    for _ in range(3):
        world.tick(1)
        world.ok()
        levels.append([one.level for one in world.locks()])
    assert levels == [[1], [0], []]


def test_jitter_is_full_on_backoff_and_small_and_positive_on_what_was_stated(plain: World) -> None:
    plain.limits = replace(plain.limits, cooldown=Backoff(100.0))
    plain.fail(verdict(), draw=0.0)
    plain.fail(verdict(), replace(WHO, connection="half"), draw=0.5)
    assert (plain.length(), plain.length("acme/half")) == (1.0, 50.5)
    for name, seconds, most in (("a", 60.0, 63.1), ("b", 86_400.0, 86_405.1)):
        plain.fail(stated(seconds), replace(WHO, connection=name), draw=0.999)
        assert seconds < plain.length(f"acme/{name}") < most


def test_an_end_that_was_made_up_is_not_told(plain: World) -> None:
    plain.fail(verdict())
    assert plain.lock().left(NOW) is None
    plain.fail(stated(60), OTHER, draw=0.0)
    assert plain.lock("acme/other").left(NOW + 20) == 40


def test_a_connection_with_cooling_off_is_locked_by_terminal_states_only(world: World) -> None:
    who = replace(WHO, cooling=False)
    assert world.fail(stated(60), who) == ()
    assert world.fail(stated(60, scope="model"), who) == ()  # nor in a worse way
    assert world.word(who) is None
    world.fail(banned(), who)
    assert world.word(who) == "terminal"


def test_a_lock_remembers_its_last_twenty_and_what_was_said(world: World) -> None:
    for number in range(HISTORY + 5):
        world.fail(stated(1, rule=f"rule-{number}"), error=f"words {number}")
        world.tick(100)
    one = world.lock()
    assert [entry.rule for entry in one.history] == [f"rule-{number}" for number in range(5, HISTORY + 5)]
    assert (one.error, one.failed_at) == ("words 24", NOW + 2400)
    world.ok()
    assert world.lock().clean and len(world.lock().history) == HISTORY
    assert world.state.healthy(WHO.account)


def test_a_healthy_success_writes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(world.state.store), "submit", lambda *given: pytest.fail("it was written"))
    for _ in range(100):
        assert world.ok() == ()
        assert world.state.healthy(WHO.account)


def test_an_ended_lock_is_wiped_by_the_first_success_and_then_written_no_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.fail(stated(1))
    world.tick(10)
    assert len(world.ok()) == 1
    monkeypatch.setattr(type(world.state.store), "submit", lambda *given: pytest.fail("it was written"))
    assert world.ok() == ()


def test_locks_of_connections_that_are_gone_are_dropped_and_told(world: World) -> None:
    world.state.configured([WHO, OTHER], NOW)
    world.fail(stated(60))
    world.fail(stated(60), OTHER)
    world.fail(stated(60), replace(WHO, connection="elsewhere", external=True))
    gone = world.state.configured([OTHER], NOW)
    assert [one.connection for one in gone] == ["relay"]
    assert [one.connection for one in world.state.locks.active(NOW)] == ["elsewhere", "other"]
    assert world.word() is None


def test_thresholds_may_change_while_locks_are_active(world: World) -> None:
    world.fail(stated(600), draw=0.0)
    world.limits = Thresholds("api_key", BreakerLimits(opens_at=1), cooldown=Backoff(50.0, 0))
    assert world.word() == "connection_cooldown"
    assert world.lock().until == NOW + 600
    world.tick(601)
    world.fail(verdict())
    assert round(world.length()) == 50


def test_statuses_lock_models_only_where_that_is_switched_on(plain: World) -> None:
    plain.fail(verdict())
    assert plain.word(replace(WHO, model="n")) == "connection_cooldown"
    plain.limits = replace(plain.limits, model=ModelLimits(enabled=True))
    plain.fail(verdict(), OTHER)
    assert plain.word(OTHER) == "model_lockout"
    assert plain.word(replace(OTHER, model="n")) is None
    assert round(plain.length("acme/other/m")) == 120
    plain.fail(verdict(upstream_status=418), replace(WHO, connection="third"))
    assert plain.word(replace(WHO, connection="third", model="n")) == "connection_cooldown"


def test_a_model_lock_need_not_grow(plain: World) -> None:
    plain.limits = replace(plain.limits, model=ModelLimits(Backoff(60.0, 5, 600.0, exponential=False)))
    for _ in range(3):
        plain.fail(verdict(scope="model"))
        assert round(plain.length("acme/relay/m")) == 60
        plain.tick(1000)


def test_a_local_server_without_a_model_is_asked_again_soon(plain: World) -> None:
    missing = verdict(reason="model_not_found", scope="model", fault="model", temporary=False, cooldown_s=120.0)
    missing = missing._replace(cooldown_source="reason", status=404, upstream_status=404)
    plain.limits = replace(plain.limits, profile="local")
    plain.fail(missing, draw=0.0)
    assert plain.length("acme/relay/m") == 5.0


def test_money_need_not_be_terminal(plain: World) -> None:
    plain.limits = replace(plain.limits, money_terminal=False)
    plain.fail(broke(), draw=0.0)
    assert plain.lock().terminal is None
    assert plain.length() == 1800.0


def test_a_clock_that_is_put_back_does_not_lengthen_a_cooldown(world: World) -> None:
    world.fail(stated(60), draw=0.0)
    world.tick(-3600)
    assert world.word() == "connection_cooldown"
    world.tick(59)
    assert world.word() == "connection_cooldown"
    world.tick(1)
    assert world.word() is None


def test_a_clock_that_is_put_forward_ends_a_cooldown_and_keeps_its_level(world: World) -> None:
    world.fail(verdict())
    world.tick(100_000)
    assert world.word() is None
    world.fail(verdict())
    assert world.lock().level == 1


def test_a_connection_is_closed_and_opened_by_hand(world: World) -> None:
    world.state.configured([WHO], NOW)
    world.state.hold("relay", "acme", NOW + 3600, NOW)
    assert world.word() == "connection_cooldown"
    world.tick(1)
    world.ok()
    assert world.word() == "connection_cooldown"  # no success ends it
    world.tick(3600)
    assert world.word() is None
    world.state.store.flush(5)
    world.state.sync()
    assert world.state.healthy(WHO.account)
    world.state.hold("relay", "acme", None, world.now)
    world.tick(10**9)
    assert world.word() == "connection_cooldown"
    assert world.state.clear(world.now, connection="relay") == ["hold:relay"]
    assert world.word() is None


def test_a_reset_opens_what_it_names(world: World) -> None:
    who = replace(OTHER, provider="zeta", host="z.example")
    world.fail(banned())
    world.fail(stated(60, scope="model"))
    world.fail(stated(60), who)
    world.fail(stated(60, scope="provider"), who)
    assert world.state.clear(NOW, model="m") == ["acme/relay/m"]
    assert world.state.clear(NOW, provider="zeta") == ["zeta/other", "zeta@z.example"]
    assert world.word(who) is None and world.word() == "terminal"
    assert world.state.clear(NOW) == ["acme/relay"]
    assert world.word() is None
    assert world.state.clear(NOW) == []


def test_the_table_is_bounded_and_active_locks_stay(plain: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "TABLE_LIMIT", 10)
    plain.state = State(Memory())
    for number in range(10):
        plain.fail(stated(5), replace(WHO, connection=f"old-{number}"))
    plain.tick(60)
    for number in range(15):
        plain.fail(stated(600), replace(WHO, connection=f"new-{number}"))
    kept = {str(one.connection) for one in plain.locks()}
    assert {f"new-{number}" for number in range(15)} <= kept
    assert len(kept) < 25


def test_a_thousand_connections_with_a_hundred_thousand_locks(shipped: Policy) -> None:
    world = World(shipped)
    world.fail(stated(600, scope="model"), Identity("acme", "c0", "m0", "h"))
    first = world.lock("acme/c0/m0")
    for number in range(1000):
        for model in range(100):
            who = Identity("acme", f"c{number}", f"m{model}", "h")
            world.state.locks.hold(
                replace(first, key=who.key("model"), connection=who.connection, model=who.model), NOW
            )
    assert len(world.state.locks) == 100_000
    assert world.word(Identity("acme", "c999", "m99", "h")) == "model_lockout"
    assert world.word(Identity("acme", "c999", "m100", "h")) is None
    assert world.word(Identity("acme", "c1000", "m1", "h")) is None


def test_a_lock_survives_its_store(world: World) -> None:
    world.fail(stated(60), error="slow down")
    world.state.store.flush(5)
    world.state.sync()
    before = world.lock()
    assert Lock.from_data(before.to_data() | {"of a newer version": 1}) == before
    assert before.to_json()["expires_at"] == before.until
    assert "secret" not in before.to_json()
