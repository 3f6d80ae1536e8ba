"""So many requests and tokens a minute."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.server.proxy.line import TIMEOUT, Bounds, Line
from faultwise.server.proxy.pace import Meter, Pace, estimate
from faultwise.server.proxy.tally import Tally

NOW = 1000.0


def gone(pace: Pace, tally: Tally, tokens: int, now: float = NOW) -> bool:
    """Whether a request may go; then it does."""
    if pace.pause(tally, tokens, now) > 0:
        return False
    pace.spend(tally, tokens, now)
    return True


def test_without_a_bound_everything_goes() -> None:
    assert all(gone(Pace(), Tally(), 10**9) for _ in range(100))


def test_a_minutes_tokens_go_at_once_and_the_rest_when_they_are_there() -> None:
    pace, tally = Pace(tokens=1000), Tally()
    assert [gone(pace, tally, 400) for _ in range(3)] == [True, True, False]
    assert pace.pause(tally, 400, NOW) == pytest.approx(12.0)
    assert pace.pause(tally, 200, NOW) == pytest.approx(0.0)
    assert gone(pace, tally, 400, NOW + 12.001)


def test_of_both_bounds_the_tighter_counts() -> None:
    pace, tally = Pace(requests=2, tokens=1000), Tally()
    assert [gone(pace, tally, 1) for _ in range(3)] == [True, True, False]
    assert pace.pause(tally, 1, NOW) == pytest.approx(30.0)
    assert pace.pause(tally, 1000, NOW) == pytest.approx(30.0)
    assert Pace(tokens=1000).pause(tally, 1000, NOW) == pytest.approx(0.12)


def test_more_than_a_minutes_goes_after_a_quiet_minute_and_is_paid_off() -> None:
    pace, tally = Pace(tokens=100), Tally()
    assert gone(pace, tally, 300)
    assert pace.pause(tally, 300, NOW) == pytest.approx(180.0)
    assert pace.pause(tally, 10, NOW) == pytest.approx(126.0)


def test_an_estimate_is_put_right_both_ways() -> None:
    pace, tally = Pace(tokens=1000), Tally()
    pace.spend(tally, 1000, NOW)
    pace.settle(tally, -600, NOW + 1)
    assert pace.pause(tally, 600, NOW) == pytest.approx(0.0)
    pace.settle(tally, 900, NOW + 1)
    assert pace.pause(tally, 100, NOW) == pytest.approx(24.0)
    pace.settle(tally, 500, NOW + 10_000)  # what comes late counts from then on
    assert pace.pause(tally, 1000, NOW + 10_000) == pytest.approx(30.0)


@given(
    per_minute=st.integers(1, 5000),
    costs=st.lists(st.tuples(st.integers(1, 3000), st.floats(0, 30)), min_size=1, max_size=60),
)
def test_never_more_than_two_minutes_worth_and_one_request_in_any_minute(
    per_minute: int, costs: list[tuple[int, float]]
) -> None:
    pace, tally, now, went = Pace(tokens=per_minute), Tally(), NOW, []
    for tokens, later in costs:
        now += later
        if gone(pace, tally, tokens, now):
            went.append((now, tokens))
    for begun, _ in went:
        within = [tokens for at, tokens in went if begun <= at < begun + 60]
        assert sum(within[:-1]) <= 2 * per_minute + 1


def test_a_meter_says_when_to_come_again() -> None:
    meter = Meter(Pace(requests=1), Tally())
    assert meter.admit(1) == 0.0
    assert 55 < meter.admit(1) <= 60


def test_a_line_counts_tokens_too() -> None:
    async def test() -> None:
        line = Line(Bounds(tokens=100, max_wait=1.0))
        assert [await line.join(90), await line.join(90)] == [False, TIMEOUT]
        assert 47 < line.pause(90) <= 48
        line.settle(-80)
        assert await line.join(90) is False

    asyncio.run(test())


def test_the_estimate_is_a_token_for_four_bytes() -> None:
    assert (estimate(b""), estimate(b"x" * 4000)) == (1, 1001)
