"""Locks: monotone merging, one step for a herd, levels that only success resets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwise.engine.state.growth import Growth
from faultwise.engine.state.lock import Identity, Lock
from faultwise.engine.state.locks import Change, Locks
from faultwise.engine.verdict.verdict import Verdict

NOW = 1_000_000.0
WHO = Identity("acme", "relay", "m", "api.acme.example")
GROWTH = Growth(levels=5, cap=1800.0)


def verdict(**changes: object) -> Verdict:
    base = Verdict(
        id=None,
        provider="acme",
        connection="relay",
        model="m",
        phase="response",
        status=429,
        upstream_status=429,
        reason="rate_limit_exceeded",
        fault="account",
        scope="connection",
        lock_key="acme/relay",
        temporary=True,
        terminal=None,
        fallback=True,
        wait_ok=True,
        counts_for_breaker=False,
        proven=False,
        cooldown_s=3.0,
        cooldown_source="backoff",
        retry_after_s=None,
        stated_s=None,
        stated_source=None,
        rule="default-429",
        layer="default",
        restated_by=None,
        policy="sha256:0",
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def stated(seconds: float, **changes: object) -> Verdict:
    told = {"cooldown_s": seconds, "cooldown_source": "header", "retry_after_s": seconds, "stated_s": seconds}
    return verdict(**{**told, **changes})


def banned() -> Verdict:
    return verdict(reason="account_banned", temporary=False, terminal="banned", cooldown_s=None, cooldown_source=None)


def fail(
    locks: Locks, one: Verdict, *, now: float, started: float | None = None, draw: float = 1.0, who: Identity = WHO
) -> Change | None:
    return locks.apply(one, who, GROWTH, started=now if started is None else started, now=now, draw=draw)


def lock(locks: Locks) -> Lock:
    (one,) = locks
    return one


def length(locks: Locks) -> float:
    one = lock(locks)
    assert one.until is not None
    return one.until - one.since


def test_a_failure_closes_its_connection_until_the_wait_is_over() -> None:
    locks = Locks()
    fail(locks, stated(60), now=NOW, draw=0.0)
    excluded = locks.closed(WHO.keys(), NOW + 59)
    assert excluded is not None and excluded.word == "connection_cooldown"
    assert locks.closed(WHO.keys(), NOW + 60) is None


def test_nothing_is_closed_where_nothing_failed() -> None:
    assert Locks().closed(WHO.keys(), NOW) is None


def test_another_connection_of_the_provider_stays_open() -> None:
    locks = Locks()
    fail(locks, stated(60), now=NOW)
    assert locks.closed(replace(WHO, connection="other").keys(), NOW) is None


@pytest.mark.parametrize(
    ("scope", "word"),
    [
        ("model", "model_lockout"),
        ("model_family", "model_lockout"),
        ("connection", "connection_cooldown"),
        ("egress", "egress_cooldown"),
        ("provider", "provider_cooldown"),
        ("host", "provider_cooldown"),
    ],
)
def test_each_scope_closes_its_targets_under_its_own_word(scope: str, word: str) -> None:
    who = replace(WHO, egress="out-1", family="small")
    locks = Locks()
    fail(locks, stated(60, scope=scope), now=NOW, who=who)
    excluded = locks.closed(who.keys(), NOW)
    assert excluded is not None and excluded.word == word


def test_a_model_lock_leaves_the_other_models_of_the_account_open() -> None:
    locks = Locks()
    fail(locks, stated(60, scope="model"), now=NOW)
    assert locks.closed(replace(WHO, model="n").keys(), NOW) is None


def test_an_egress_lock_closes_every_connection_behind_it_towards_that_host_only() -> None:
    locks = Locks()
    fail(locks, stated(60, scope="egress"), now=NOW, who=replace(WHO, egress="out-1"))
    assert locks.closed(replace(WHO, egress="out-1", connection="b").keys(), NOW) is not None
    assert locks.closed(replace(WHO, egress="out-1", host="other.example").keys(), NOW) is None
    assert locks.closed(WHO.keys(), NOW) is None


def test_without_an_egress_identity_only_the_failing_connection_is_closed() -> None:
    locks = Locks()
    fail(locks, stated(60, scope="egress"), now=NOW)
    assert locks.closed(WHO.keys(), NOW) is not None
    assert locks.closed(replace(WHO, connection="b").keys(), NOW) is None


def test_a_request_scoped_verdict_locks_nothing() -> None:
    locks = Locks()
    assert fail(locks, verdict(scope="request", cooldown_s=None), now=NOW) is None
    assert fail(locks, verdict(reason="not_an_error", scope="request"), now=NOW) is None
    assert len(locks) == 0


def test_a_provider_failure_without_a_stated_wait_is_only_counted() -> None:
    locks = Locks()
    assert fail(locks, verdict(scope="provider"), now=NOW) is None


def test_repeated_backoff_doubles_up_to_its_levels_and_its_cap() -> None:
    locks = Locks()
    now, lengths = NOW, []
    for _ in range(8):
        fail(locks, verdict(), now=now)
        lengths.append(length(locks))
        now += 10_000
    assert lengths == [3, 6, 12, 24, 48, 96, 96, 96]
    locks.apply(verdict(), WHO, Growth(levels=20, cap=50.0), started=now, now=now, draw=1.0)
    assert length(locks) == 50


def test_the_end_of_a_cooldown_does_not_reset_the_level_but_a_success_does() -> None:
    locks = Locks()
    fail(locks, verdict(), now=NOW)
    fail(locks, verdict(), now=NOW + 100)
    assert lock(locks).level == 1
    locks.success(WHO.keys(), started=NOW + 200, now=NOW + 201)
    fail(locks, verdict(), now=NOW + 300)
    assert lock(locks).level == 0


def test_twenty_concurrent_failures_are_one_step() -> None:
    locks = Locks()
    for number in range(20):
        fail(locks, verdict(), now=NOW + number / 100, started=NOW - 1)
    assert lock(locks).level == 0
    assert lock(locks).until == NOW + 3


def test_a_concurrent_failure_that_states_a_longer_wait_is_taken() -> None:
    locks = Locks()
    fail(locks, verdict(), now=NOW, started=NOW - 1)
    fail(locks, stated(600), now=NOW + 1, started=NOW - 1, draw=0.0)
    assert lock(locks).until == NOW + 601
    assert lock(locks).known


def test_a_concurrent_ban_is_taken() -> None:
    locks = Locks()
    fail(locks, verdict(), now=NOW, started=NOW - 1)
    fail(locks, banned(), now=NOW + 1, started=NOW - 1)
    excluded = locks.closed(WHO.keys(), NOW + 10**9)
    assert excluded is not None and excluded.word == "terminal"


def test_an_explicit_longer_end_is_never_shortened() -> None:
    locks = Locks()
    fail(locks, stated(600), now=NOW, draw=0.0)
    fail(locks, stated(5), now=NOW + 1)
    fail(locks, verdict(), now=NOW + 2)
    assert lock(locks).until == NOW + 600


def test_a_transient_failure_never_overwrites_a_terminal_state() -> None:
    locks = Locks()
    fail(locks, banned(), now=NOW)
    assert fail(locks, stated(5), now=NOW + 10) is None
    assert lock(locks).terminal == "banned"


def test_a_success_does_not_end_a_ban() -> None:
    locks = Locks()
    fail(locks, banned(), now=NOW)
    locks.success(WHO.keys(), started=NOW + 1, now=NOW + 2)
    assert locks.closed(WHO.keys(), NOW + 3) is not None


def test_a_terminal_state_with_a_recheck_lets_one_request_through_each_time() -> None:
    locks = Locks()
    broke = verdict(reason="credits_exhausted", temporary=False, terminal="credits_exhausted", cooldown_s=1800.0)
    locks.apply(broke, WHO, GROWTH, started=NOW, now=NOW, draw=0.0, recheck=1800.0)
    assert locks.closed(WHO.keys(), NOW + 1799) is not None
    assert locks.closed(WHO.keys(), NOW + 1800) is None
    assert locks.closed(WHO.keys(), NOW + 1801) is not None
    locks.success(WHO.keys(), started=NOW + 1800, now=NOW + 1802)
    assert locks.closed(WHO.keys(), NOW + 1803) is None


def test_a_success_that_started_before_the_lock_says_nothing_about_it() -> None:
    locks = Locks()
    fail(locks, stated(60), now=NOW)
    assert locks.success(WHO.keys(), started=NOW - 1, now=NOW + 1) == ()
    assert locks.closed(WHO.keys(), NOW + 1) is not None


def test_a_success_halves_the_failures_of_a_model() -> None:
    locks = Locks()
    for number in range(4):
        fail(locks, verdict(scope="model"), now=NOW + number * 10_000)
    levels = []
    for number in range(3):
        locks.success(WHO.keys(), started=NOW + 90_000, now=NOW + 90_000 + number)
        levels.append([one.level for one in locks])
    assert levels == [[1], [0], []]


def test_growing_waits_follow_the_steps_of_the_reason() -> None:
    locks = Locks()
    lengths = []
    for number in range(4):
        now = NOW + number * 10_000
        one = verdict(reason="auth_error", cooldown_s=120.0, cooldown_source="reason")
        locks.apply(one, WHO, Growth(5, 1800.0, (120.0, 600.0, 3600.0)), started=now, now=now, draw=0.0)
        lengths.append(length(locks))
    assert lengths == [120, 600, 3600, 3600]


def test_jitter_is_full_on_backoff_and_small_and_positive_on_what_was_stated() -> None:
    locks = Locks()
    fail(locks, verdict(cooldown_s=100.0), now=NOW, draw=0.0)
    assert length(locks) == 1.0
    locks = Locks()
    fail(locks, verdict(cooldown_s=100.0), now=NOW, draw=0.5)
    assert length(locks) == 50.5
    locks = Locks()
    fail(locks, stated(60.0), now=NOW, draw=0.999)
    assert 60.0 < length(locks) < 63.1
    locks = Locks()
    fail(locks, stated(86_400.0), now=NOW, draw=0.999)
    assert 86_400.0 < length(locks) < 86_405.1


def test_an_end_that_was_made_up_is_not_told() -> None:
    locks = Locks()
    fail(locks, verdict(), now=NOW)
    assert lock(locks).left(NOW) is None
    locks = Locks()
    fail(locks, stated(60), now=NOW, draw=0.0)
    assert lock(locks).left(NOW + 20) == 40


def test_a_connection_with_cooling_off_is_locked_by_terminal_states_only() -> None:
    who = replace(WHO, cooling=False)
    locks = Locks()
    assert fail(locks, stated(60), now=NOW, who=who) is None
    fail(locks, banned(), now=NOW, who=who)
    assert locks.closed(who.keys(), NOW) is not None


def test_locks_of_connections_that_are_gone_are_dropped_and_told() -> None:
    locks = Locks()
    fail(locks, stated(60), now=NOW)
    fail(locks, stated(60), now=NOW, who=replace(WHO, connection="other"))
    gone = locks.keep_only(frozenset({"other"}))
    assert [one.connection for one in gone] == ["relay"]
    assert [one.connection for one in locks.active(NOW)] == ["other"]


def test_the_table_is_bounded_and_active_locks_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faultwise.engine.state.locks.TABLE_LIMIT", 2)
    locks = Locks()
    fail(locks, stated(5), now=NOW, who=replace(WHO, connection="old"))
    fail(locks, stated(600), now=NOW, who=replace(WHO, connection="active"))
    fail(locks, stated(600), now=NOW + 60, who=replace(WHO, connection="new"))
    assert sorted(str(one.connection) for one in locks) == ["active", "new"]


def test_a_store_gives_back_what_was_put_and_not_dropped() -> None:
    class Kept:
        def __init__(self) -> None:
            self.locks: dict[str, Lock] = {}

        def load(self) -> tuple[Lock, ...]:
            return tuple(self.locks.values())

        def put(self, lock: Lock) -> None:
            self.locks[lock.key] = lock

        def drop(self, key: str) -> None:
            self.locks.pop(key, None)

    kept = Kept()
    fail(Locks(kept), stated(60), now=NOW)
    assert Locks(kept).closed(WHO.keys(), NOW) is not None
    assert Locks(kept).clear("acme/relay")
    assert Locks(kept).closed(WHO.keys(), NOW) is None
    assert not Locks(kept).clear("acme/relay")
