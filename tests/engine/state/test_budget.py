"""The retry budget: a share of the traffic, and never less than a floor."""

from __future__ import annotations

from faultwise.engine.state.budget import Budget

BOUNDS = {"window": 10.0, "ratio": 0.2, "floor": 1.0}


def extras(budget: Budget, now: float, wanted: int) -> int:
    return sum(budget.extra(now, **BOUNDS) for _ in range(wanted))


def test_the_floor_is_always_allowed() -> None:
    assert extras(Budget(), 100.0, 50) == 10


def test_beyond_it_a_fifth_of_the_traffic_is() -> None:
    budget = Budget()
    for number in range(1000):
        budget.request(100.0 + number / 200, 10.0)
    assert extras(budget, 105.0, 1000) == 200


def test_what_is_older_than_the_window_is_forgotten() -> None:
    budget = Budget()
    assert extras(budget, 100.0, 50) == 10
    assert extras(budget, 109.0, 50) == 0
    assert extras(budget, 110.5, 50) == 10


def test_a_clock_that_is_put_back_takes_nothing_away() -> None:
    budget = Budget()
    assert extras(budget, 1000.0, 50) == 10
    assert extras(budget, 100.0, 50) == 10
