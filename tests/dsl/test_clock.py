"""A clock strikes once a day, in its own zone, whatever the zone does to its clocks."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.dsl import Clock


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "Asia", "../etc/passwd", "/etc/passwd"])
def test_a_zone_nobody_lives_in_is_refused(zone: str) -> None:
    with pytest.raises(ValueError, match="unknown time zone"):
        Clock(0, 0, zone)


@pytest.mark.parametrize(("hour", "minute"), [(24, 0), (0, 60), (-1, 0)])
def test_a_time_no_clock_shows_is_refused(hour: int, minute: int) -> None:
    with pytest.raises(ValueError, match="is not a time of day"):
        Clock(hour, minute, "UTC")


@pytest.mark.parametrize(
    ("clock", "now", "next_"),
    [
        (Clock(0, 0, "UTC"), "2026-01-01T00:00:00", "2026-01-02T00:00:00"),
        (Clock(0, 0, "UTC"), "2026-01-01T23:59:59", "2026-01-02T00:00:00"),
        (Clock(8, 0, "Asia/Shanghai"), "2026-01-01T00:00:00", "2026-01-02T00:00:00"),
        (Clock(0, 0, "Asia/Shanghai"), "2026-01-01T15:00:00", "2026-01-01T16:00:00"),
        (Clock(2, 30, "America/New_York"), "2026-03-08T05:00:00", "2026-03-08T07:30:00"),  # 02:30 does not happen
        (Clock(12, 0, "America/New_York"), "2026-03-07T18:00:00", "2026-03-08T16:00:00"),  # a day of 23 hours
        (Clock(1, 30, "America/New_York"), "2026-11-01T05:00:00", "2026-11-01T05:30:00"),  # the first 01:30 of two
        (Clock(1, 30, "America/New_York"), "2026-11-01T06:00:00", "2026-11-02T06:30:00"),  # between the two
        (Clock(12, 0, "Pacific/Apia"), "2011-12-30T05:00:00", "2011-12-30T22:00:00"),  # a day that was left out
    ],
)
def test_the_next_time(clock: Clock, now: str, next_: str) -> None:
    assert clock.next(at(now)) == at(next_)


def test_a_clock_is_written_as_in_an_expression() -> None:
    assert str(Clock(8, 5, "Asia/Shanghai")) == "08:05 Asia/Shanghai"


@settings(deadline=None, derandomize=True, database=None)
@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(("UTC", "Asia/Kathmandu", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe")),
    st.floats(0, 4_000_000_000),
)
def test_it_is_ahead_within_a_day_and_shows_that_time(hour: int, minute: int, zone: str, now: float) -> None:
    moment = Clock(hour, minute, zone).next(now)
    assert 0 < moment - now <= 25 * 3600
    local = datetime.fromtimestamp(moment, ZoneInfo(zone))
    assert (local.hour, local.minute, local.second) == (hour, minute, 0) or local.utcoffset() != datetime.fromtimestamp(
        moment - 7200, ZoneInfo(zone)
    ).utcoffset()


@pytest.mark.parametrize("now", [1e15, -1e15, float("nan"), float("inf"), 253402300799.0, -62135596800.0])
def test_beyond_the_calendar_there_is_no_next_time(now: float) -> None:
    found = Clock(8, 0, "Asia/Shanghai").next(now)
    assert found is None or found > now
