"""What counts by its way out cools everything behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from faultwise.engine.policy.policy import Policy
from faultwise.engine.state.state import State
from faultwise.engine.store.base import Store

from .world import NOW, WHO, World, banned, fault, stated

BY_EGRESS = """faultwise: 1
kind: provider
provider: acme
quota_unit: egress
family: acme-group
"""
ALLOWED = "faultwise: 1\nkind: policy\nallowlists: {egress_bucketed: [acme]}\n"
HERE = replace(WHO, egress="out-1", group="acme-group")
SIBLING = replace(HERE, connection="sibling")
COUSIN = replace(HERE, provider="acme-lite", connection="cousin", host="lite.example")


@pytest.fixture
def world(over: Callable[..., Policy], store: Store) -> World:
    made = World(over({"acme.yaml": BY_EGRESS, "policy.yaml": ALLOWED}), State(store))
    return made


def known(world: World, *more: Any) -> None:
    world.state.configured([HERE, SIBLING, COUSIN, *more], NOW)


def test_every_connection_of_the_group_behind_the_egress_cools(world: World) -> None:
    known(world)
    world.fail(stated(60), HERE, draw=0.0)
    assert world.word(HERE) == "connection_cooldown"
    assert world.word(SIBLING) == world.word(COUSIN) == "egress_cooldown"
    world.tick(60)
    assert world.word(SIBLING) is None


def test_others_stay_open(world: World) -> None:
    away = replace(SIBLING, connection="away", egress="out-2")
    stranger = replace(SIBLING, connection="stranger", provider="zeta", group=None)
    opted_out = replace(SIBLING, connection="opted-out", cooling=False)
    known(world, away, stranger, opted_out)
    world.fail(stated(60), HERE)
    assert [world.word(one) for one in (away, stranger, opted_out)] == [None, None, None]


def test_terminal_and_longer_cooling_siblings_are_untouched(world: World) -> None:
    longer = replace(SIBLING, connection="longer")
    known(world, longer)
    world.fail(banned(), SIBLING)
    world.fail(stated(600, reason="unknown"), longer, draw=0.0)
    world.fail(stated(60), HERE)
    assert world.word(SIBLING) == "terminal"
    assert world.lock("acme/longer").until == NOW + 600
    assert world.word(COUSIN) == "egress_cooldown"


def test_without_an_identity_only_the_failing_one_cools(world: World) -> None:
    nowhere = replace(HERE, egress=None, connection="nowhere")
    known(world, nowhere)
    world.fail(stated(60), nowhere)
    assert world.word(nowhere) == "connection_cooldown"
    assert world.word(SIBLING) is None


def test_it_is_never_terminal_and_no_other_failure_widens(world: World) -> None:
    known(world)
    world.fail(banned(), HERE)
    world.fail(stated(60, reason="unknown"), COUSIN)
    assert world.word(SIBLING) is None


def test_off_the_allowlist_nothing_widens(over: Callable[..., Policy], store: Store) -> None:
    world = World(over({"acme.yaml": BY_EGRESS}), State(store))
    known(world)
    world.fail(stated(60), HERE)
    assert world.word(SIBLING) is None


def test_a_verdict_of_egress_scope_that_came_from_the_unit_is_one_of_the_connection(world: World) -> None:
    known(world)
    world.fail(stated(60, scope="egress"), HERE)
    assert world.word(HERE) == "connection_cooldown"
    assert world.word(SIBLING) == "egress_cooldown"


def test_a_siblings_success_ends_its_own_lock_only(world: World) -> None:
    known(world)
    world.fail(stated(60), HERE)
    world.tick(1)
    world.ok(SIBLING)
    assert world.word(SIBLING) is None
    assert world.word(HERE) == "connection_cooldown"


def test_a_failure_of_the_provider_does_not_widen(world: World) -> None:
    known(world)
    world.fail(fault(), HERE)
    assert world.word(SIBLING) is None
