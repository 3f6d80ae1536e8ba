"""Terminal states: how refusals come to one, and what ends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .world import NOW, WHO, World, banned, broke, refused, stated, verdict


def episode(world: World, one: object, seconds: float) -> None:
    """One refusal, and the end of its wait."""
    world.fail(one, draw=0.0)  # type: ignore[arg-type]
    assert world.lock().terminal is None
    assert world.length() == seconds
    world.tick(seconds)


def test_the_third_rejection_in_a_row_is_a_ban(world: World) -> None:
    episode(world, refused(), 300)
    episode(world, refused(), 900)
    world.fail(refused())
    assert world.lock().terminal == "banned"
    world.tick(10**8)
    assert world.word() == "terminal"


def test_rejections_inside_one_running_cooldown_are_one_episode(world: World) -> None:
    for _ in range(50):
        world.fail(refused(), draw=0.0)
        world.tick(5)
    assert world.lock().terminal is None
    assert world.lock().streaks[0].count == 1
    assert world.length() == 300


def test_a_success_starts_the_rejections_over(world: World) -> None:
    episode(world, refused(), 300)
    episode(world, refused(), 900)
    world.ok()
    episode(world, refused(), 300)
    episode(world, refused(), 900)


def test_a_day_starts_the_rejections_over(world: World) -> None:
    episode(world, refused(), 300)
    episode(world, refused(), 900)
    world.tick(86_400)
    episode(world, refused(), 300)


def test_three_refused_episodes_of_401_and_one_more_are_expiry(world: World) -> None:
    for seconds in (120, 600, 3600):
        episode(world, refused("auth_error", 401), seconds)
    world.fail(refused("auth_error", 401))
    assert world.lock().terminal == "expired"


def test_a_403_never_expires_an_account(world: World) -> None:
    for seconds in (120, 600, 3600, 3600, 3600, 3600):
        episode(world, refused("auth_error", 403), seconds)


def test_another_failure_between_refusals_takes_none_of_them_away(world: World) -> None:
    episode(world, refused(), 300)
    world.fail(stated(10), draw=0.0)
    world.tick(11)
    episode(world, refused(), 900)
    world.fail(refused())
    assert world.lock().terminal == "banned"


def test_levels_of_other_failures_do_not_lengthen_a_first_refusal(world: World) -> None:
    for _ in range(4):
        world.fail(verdict())
        world.tick(1000)
    episode(world, refused("auth_error", 401), 120)


def test_an_account_that_does_not_exist_has_nothing_to_end(world: World) -> None:
    who = replace(WHO, auth="none")
    for _ in range(10):
        world.fail(refused(), who)
        world.tick(10_000)
    assert world.lock().terminal is None


def test_with_cooling_off_refusals_close_nothing_and_still_add_up(world: World) -> None:
    who = replace(WHO, cooling=False)
    for wait in (300, 900):
        for _ in range(5):
            world.fail(refused(), who, draw=0.0)
            assert world.word(who) is None
        world.tick(wait)
    world.fail(refused(), who)
    assert world.word(who) == "terminal"


def test_an_empty_account_is_tried_by_one_request_each_half_hour(world: World) -> None:
    world.fail(broke())
    world.tick(1799)
    assert world.word() == "terminal"
    world.tick(1)
    assert world.word() == "trial"
    held = world.view().trials
    assert world.state.claim(held, "one", world.now) is None
    world.state.tried(held, world.now)
    assert world.word() == "terminal"
    refusal = world.state.claim(held, "two", world.now)
    assert refusal is not None and refusal.word == "terminal"
    world.fail(broke(), trials=tuple(one.trial for one in held), owner="one")
    world.tick(1799)
    assert world.word() == "terminal"
    world.tick(1)
    assert world.word() == "trial"


def test_a_topped_up_account_is_open_again_after_its_probe(world: World) -> None:
    world.fail(broke())
    world.tick(1800)
    world.ok()
    assert world.word() is None


def test_a_probe_that_ends_otherwise_leaves_it_empty(world: World) -> None:
    world.fail(broke())
    world.tick(1800)
    world.state.tried(world.view().trials, world.now)
    world.fail(stated(5))
    assert world.word() == "terminal"
    assert world.lock().terminal == "credits_exhausted"


def test_a_ban_beats_an_empty_account_and_stays(world: World) -> None:
    world.fail(broke())
    world.tick(1)
    world.fail(banned())
    assert world.lock().terminal == "banned"
    world.tick(1)
    world.fail(broke())
    assert world.lock().terminal == "banned"


@pytest.mark.parametrize("held", [banned(), broke(), refused("auth_error", 401)], ids=lambda one: one.reason)
def test_new_credentials_clear_what_was_held_against_the_old(world: World, held: object) -> None:
    old, new = replace(WHO, secret="hash-1"), replace(WHO, secret="hash-2")
    world.state.configured([old], NOW)
    world.fail(held, old)  # type: ignore[arg-type]
    world.state.configured([old], NOW)
    assert world.word(old) is not None
    world.state.configured([new], NOW)
    assert world.word(new) is None
    assert world.lock().history[-1].reason == held.reason  # type: ignore[attr-defined]


def test_new_credentials_do_not_end_a_rate_limit(world: World) -> None:
    old, new = replace(WHO, secret="hash-1"), replace(WHO, secret="hash-2")
    world.state.configured([old], NOW)
    world.fail(stated(60), old)
    world.state.configured([new], NOW)
    assert world.word(new) == "connection_cooldown"
