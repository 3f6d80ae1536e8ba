"""Lengths of time: one grammar for headers, bodies and prose, in all languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.stated.duration import DAY, HOUR, UNITS, duration, duration_at, number

LENGTHS = [
    ("1s", 1),
    ("60s", 60),
    ("500ms", 0.5),
    ("250µs", 0.00025),
    ("6m0s", 360),
    ("2m59.56s", 179.56),
    ("5h59m59.96s", 21599.96),
    ("1h2m3s4ms", 3723.004),
    ("71h15m27.791609974s", 256527.791609974),
    ("2h 30m", 9000),
    ("13 days", 13 * DAY),
    ("30 minutes", 1800),
    ("1 hour and 5 minutes", 3900),
    ("3 days, 4 hours, 5 minutes", 3 * DAY + 4 * HOUR + 300),
    ("1.5 hours", 5400),
    ("1,800 seconds", 1800),
    ("1,5 Stunden", 5400),
    ("2M", 120),
    ("an hour", 3600),
    ("half an hour", 1800),
    ("a day", DAY),
    ("two hours", 7200),
    ("1 month", 30 * DAY),
    ("PT30S", 30),
    ("P1DT2H", DAY + 7200),
    ("P2W", 14 * DAY),
    ("PT1.5S", 1.5),
    ("00:01:00", 60),
    ("1 day, 2:03:04", DAY + 7384),
    ("30秒", 30),
    ("30 秒钟", 30),
    ("5小时30分钟", 19800),
    ("3天4小时", 3 * DAY + 4 * HOUR),
    ("六十秒", 60),
    ("十五分钟", 900),
    ("二十五分钟", 1500),
    ("半小时", 1800),
    ("６０秒", 60),
    ("1時間30分", 5400),
    ("2日", 2 * DAY),
    ("1시간 30분", 5400),
    ("3일", 3 * DAY),
    ("5 minutos", 300),
    ("1 heure et 5 minutes", 3900),
    ("2 Tage", 2 * DAY),
    ("1 час 5 минут", 3900),
]


@pytest.mark.parametrize("text, seconds", LENGTHS)
def test_a_length_is_the_sum_of_its_parts(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30",
        "abc",
        "5 models",
        "5 mins late",
        "-5s",
        "s",
        "P",
        "PT",
        "1e3s",
        "nan",
        "inf",
        "a minute",
        "30s 5m",
        "5m junk",
    ],
)
def test_what_is_not_wholly_a_length_is_none(text: str) -> None:
    assert duration(text) is None


def test_a_length_ends_where_its_units_stop_getting_smaller() -> None:
    assert duration_at("30 seconds, 2 minutes later", 0) == (30, len("30 seconds"))


def test_a_word_that_begins_with_a_unit_is_not_that_unit() -> None:
    assert duration_at("3 more", 0) is None


@pytest.mark.parametrize(
    "text, value", [("30", 30), ("1.5", 1.5), ("1,800", 1800), ("30s", None), ("-1", None), ("", None)]
)
def test_a_bare_number_is_read_apart(text: str, value: float | None) -> None:
    assert number(text) == value


def test_every_unit_of_the_table_is_read() -> None:
    for seconds, names in UNITS.items():
        for name in names.split():
            assert duration(f"3{name}") == pytest.approx(3 * seconds), name


@given(st.integers(0, 500), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_what_is_written_is_what_is_read(days: int, hours: int, minutes: int, seconds: int, millis: int) -> None:
    wanted = days * DAY + hours * HOUR + minutes * 60 + seconds + millis / 1000
    assert duration(f"{days}d{hours}h{minutes}m{seconds}.{millis:03}s") == pytest.approx(wanted)
    assert duration(
        f"{days} days, {hours} hours, {minutes} minutes and {seconds}.{millis:03} seconds"
    ) == pytest.approx(wanted)
    assert duration(f"{days}天{hours}小时{minutes}分{seconds}.{millis:03}秒") == pytest.approx(wanted)
    assert duration(f"P{days}DT{hours}H{minutes}M{seconds}.{millis:03}S") == pytest.approx(wanted)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(["ms", "s", "minutes", "h", "天", "초"]))
def test_a_longer_length_is_not_read_as_shorter(one: int, other: int, unit: str) -> None:
    first, second = duration(f"{one}{unit}"), duration(f"{other}{unit}")
    assert first is not None and second is not None
    assert (first <= second) == (one <= other)


@given(st.text())
def test_any_text_is_a_length_or_none(text: str) -> None:
    seconds = duration(text)
    assert seconds is None or seconds >= 0
