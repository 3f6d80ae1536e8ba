"""One state over one store, and two over the same file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.policy.policy import Policy
from faultwise.engine.state.outcome import Outcome
from faultwise.engine.state.state import State
from faultwise.engine.store.base import Row
from faultwise.engine.store.memory import Memory
from faultwise.engine.store.sqlite import Sqlite

from .world import NOW, WHO, World, banned, broke, fault, stated, verdict

PATIENCE = 10.0


def until(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.002)


@pytest.fixture
def pair(shipped: Policy, tmp_path: Path) -> Iterator[tuple[World, World]]:
    """Two workers of one machine."""
    stores = [Sqlite(tmp_path / "state.db") for _ in range(2)]
    yield World(shipped, State(stores[0])), World(shipped, State(stores[1]))
    for store in stores:
        store.close()


def test_what_one_worker_closes_the_other_does_not_try(pair: tuple[World, World]) -> None:
    ours, theirs = pair
    assert theirs.word() is None
    ours.fail(stated(60))
    ours.fail(stated(60, scope="model"), replace(WHO, connection="other"))
    until(lambda: theirs.word() == "connection_cooldown")
    until(lambda: theirs.word(replace(WHO, connection="other")) == "model_lockout")
    theirs.tick(1)
    theirs.state.clear(theirs.now)
    until(lambda: ours.word() is None)


def test_failures_that_two_workers_see_add_up(pair: tuple[World, World]) -> None:
    ours, theirs = pair
    for _ in range(6):
        ours.fail(fault())
        theirs.fail(fault())
    until(lambda: ours.word() == theirs.word() == "circuit_open")


def test_a_ban_that_one_worker_saw_beats_a_cooldown_of_the_other(pair: tuple[World, World]) -> None:
    ours, theirs = pair
    ours.fail(banned())
    theirs.fail(stated(5), started=NOW - 1)
    until(lambda: ours.word() == theirs.word() == "terminal")


def test_only_one_of_two_workers_sends_a_probe(pair: tuple[World, World]) -> None:
    ours, theirs = pair
    ours.fail(broke())
    until(lambda: theirs.word() == "terminal")
    for world in pair:
        world.tick(1800)
    held = ours.view().trials
    assert ours.state.claim(held, "ours", ours.now) is None
    assert theirs.state.claim(theirs.view().trials, "theirs", theirs.now) is not None


def test_a_lock_is_durable_once_the_store_has_said_so(pair: tuple[World, World]) -> None:
    ours, _ = pair
    ours.fail(stated(60))

    def durable() -> bool:
        ours.state.sync()
        return ours.state.durable("lock", "acme/relay")

    until(durable)
    assert not State(Memory()).durable("lock", "acme/relay")


def test_a_file_that_was_lost_is_filled_again(shipped: Policy, tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    world = World(shipped, State(Sqlite(file, retry=0.02)))
    world.fail(stated(600))
    assert world.state.store.flush(PATIENCE)
    for path in tmp_path.glob("state.db*"):
        path.unlink()

    def refilled() -> bool:
        world.state.sync()
        return file.exists() and world.state.store.flush(0.1) and world.state.durable("lock", "acme/relay")

    time.sleep(0.1)
    until(refilled)
    world.state.store.close()
    again = State(Sqlite(file))
    assert [lock.key for lock in again.locks] == ["acme/relay"]
    again.store.close()


def test_what_we_did_since_is_not_undone_by_an_older_answer() -> None:
    class Slow(Memory):
        shared = True

        def submit(self, kind: str, key: str, change: Any, settled: Any) -> None:
            """Nothing is answered yet."""

    store = Slow()
    state = State(store)
    first = state.hold("relay", "acme", 2000.0, 1000.0)
    state.hold("relay", "acme", 3000.0, 1000.0)
    store.inbox.append(Row("lock", first.key, first.to_data(), 1))
    state.sync()
    assert state.locks.table.rows[first.key].until == 3000.0
    store.inbox.append(Row("lock", first.key, None, 1))
    store.inbox.append(Row("nonsense", "x", None))
    state.sync()
    assert first.key not in state.locks.table.rows


def test_of_several_trials_all_are_taken_or_none(world: World) -> None:
    world.fail(broke())
    for _ in range(12):
        world.fail(fault())
    world.tick(1800)
    held = world.view().trials
    assert [one.word for one in held] == ["circuit_open", "terminal"]
    assert world.state.claim(held[1:], "other", world.now) is None
    assert world.state.claim(held, "both", world.now) == held[1]
    world.state.store.flush(PATIENCE)
    assert world.state.claim(held[:1], "third", world.now) is None


def test_a_burst_lets_the_whole_provider_back_off_until_one_is_answered(world: World) -> None:
    def burst() -> None:
        world.state.burst(
            Outcome(WHO, world.limits, world.now, world.now, 0.999999, world.policy, verdict(), owner="r")
        )

    sibling = replace(WHO, connection="sibling")
    burst()
    assert world.word(sibling) == "provider_cooldown"
    world.tick(3)
    assert world.word(sibling) is None
    burst()
    world.tick(3)
    assert world.word(sibling) == "provider_cooldown"
    world.ok(sibling)
    assert world.word(sibling) is None


def test_another_routers_connection_may_move(world: World) -> None:
    who = replace(WHO, external=True)
    for _ in range(12):
        world.fail(fault(), who)
    assert world.word(who) == "circuit_open"
    moved = replace(who, host="elsewhere.example")
    assert world.word(moved) is None
    world.fail(stated(60, scope="provider"), moved)
    assert world.word(moved) == "circuit_open"


def test_what_belongs_to_nobody_closes_nothing(world: World) -> None:
    """A lock of a store may be about a connection that nobody has asked for yet."""
    world.state.hold("somebody", "", NOW + 60, NOW)
    assert world.word() is None
    assert world.word(replace(WHO, connection="somebody")) == "connection_cooldown"


def test_every_change_can_be_shown(world: World) -> None:
    changes = (*world.fail(stated(60)), *world.fail(fault()))
    shown = [one.to_json() for one in changes]
    assert [(one["kind"], one["before"]) for one in shown] == [("lock", None), ("breaker", None)]
    world.tick(60)
    (shown_again,) = [one.to_json() for one in world.ok() if one.kind == "lock"]
    assert shown_again["after"]["until"] == 0.0
