"""Waiting instead of giving up: for how long, and for what not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwise.engine.state.lock import Lock
from faultwise.engine.state.patience import Patience

LOCK = Lock("k", "connection", "p", "c", None, "rate_limit_exceeded", None, 429, 0.0, 100.0, False, True, True)
PATIENCE = Patience(90.0, 300.0, 5)


def test_the_soonest_end_is_waited_for_and_a_little_more() -> None:
    locks = [LOCK, replace(LOCK, until=60.0)]
    assert PATIENCE.pause(locks, 50.0, 0.0) == pytest.approx(10.02)
    assert PATIENCE.pause(locks, 50.0, 0.999) == pytest.approx(10.52, abs=0.01)


@pytest.mark.parametrize(
    "other",
    [
        None,
        replace(LOCK, wait_ok=False),
        replace(LOCK, temporary=False),
        replace(LOCK, terminal="banned", until=None),
        replace(LOCK, until=None),
    ],
)
def test_one_target_that_is_not_only_waiting_is_enough_not_to(other: Lock | None) -> None:
    assert PATIENCE.pause([LOCK, other], 50.0, 0.0) is None


def test_no_target_is_nothing_to_wait_for() -> None:
    assert PATIENCE.pause([], 50.0, 0.0) is None


def test_a_wait_that_is_too_long_is_not_begun() -> None:
    assert PATIENCE.pause([LOCK], 9.0, 0.0) is None
    assert replace(PATIENCE, budget=5.0).pause([LOCK], 90.0, 0.0) is None


def test_it_runs_out() -> None:
    left = PATIENCE
    for _ in range(5):
        left = left.after(20.0)
    assert left == Patience(90.0, 200.0, 0)
    assert left.pause([LOCK], 99.0, 0.0) is None


def test_a_target_on_trial_is_looked_at_again_soon() -> None:
    assert PATIENCE.pause([LOCK], 100.0, 0.0) == pytest.approx(1.02)
