"""Moments: every calendar form met in headers, bodies and prose, in any zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import format_datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.stated.instant import instant, instant_at
from faultwise.engine.failure.stated.zones import zone

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC).timestamp()  # a Sunday
SHANGHAI = ZoneInfo("Asia/Shanghai")

MOMENTS = [
    ("2026-12-02T11:15:27Z", "2026-12-02T11:15:27+00:00"),
    ("2026-12-02t11:15:27.5z".upper(), "2026-12-02T11:15:27.500+00:00"),
    ("2026-12-02T11:15:27+08:00", "2026-12-02T11:15:27+08:00"),
    ("2026-12-02 11:15:27 -0530", "2026-12-02T11:15:27-05:30"),
    ("2026-12-03 23:59:59 +0800 CST", "2026-12-03T23:59:59+08:00"),
    ("2026-12-01 at 00:00 UTC", "2026-12-01T00:00:00+00:00"),
    ("2026-12-01 00:00 (UTC+8)", "2026-12-01T00:00:00+08:00"),
    ("2026-12-01", "2026-12-01T00:00:00+00:00"),
    ("2026-12-01 24:00", "2026-12-02T00:00:00+00:00"),
    ("2026/12/01 08:00", "2026-12-01T08:00:00+00:00"),
    ("Wed, 02 Dec 2026 12:00:00 GMT", "2026-12-02T12:00:00+00:00"),
    ("Wednesday, 02-Dec-26 12:00:00 GMT", "2026-12-02T12:00:00+00:00"),
    ("Wed Dec  2 12:00:00 2026", "2026-12-02T12:00:00+00:00"),
    ("Wed Dec 02 2026 12:00:00 GMT+0100 (CET)", "2026-12-02T12:00:00+01:00"),
    ("Dec 5, 2026, 5:00 PM UTC", "2026-12-05T17:00:00+00:00"),
    ("December 5th, 2026 5 p.m. EST", "2026-12-05T17:00:00-05:00"),
    ("5 December 2026 17:00", "2026-12-05T17:00:00+00:00"),
    ("12/5/2026, 5:00:00 PM", "2026-12-05T17:00:00+00:00"),
    ("31/12/2026", "2026-12-31T00:00:00+00:00"),
    ("Dec 10 at 7am (America/Chicago)", "2026-12-10T07:00:00-06:00"),
    ("Jan 3 at 7am", "2027-01-03T07:00:00+00:00"),
    ("3:00 PM (America/New_York)", "2026-11-29T20:00:00+00:00"),
    ("3pm", "2026-11-29T15:00:00+00:00"),
    ("11am", "2026-11-30T11:00:00+00:00"),
    ("12am", "2026-11-30T00:00:00+00:00"),
    ("15:00 Pacific Time", "2026-11-29T23:00:00+00:00"),
    ("midnight UTC", "2026-11-30T00:00:00+00:00"),
    ("noon PT", "2026-11-29T20:00:00+00:00"),
    ("tomorrow at 3pm", "2026-11-30T15:00:00+00:00"),
    ("Monday at 9:00 AM", "2026-11-30T09:00:00+00:00"),
    ("Sunday at 9:00 AM", "2026-12-06T09:00:00+00:00"),
    ("5:00 PM UTC on Dec 5, 2026", "2026-12-05T17:00:00+00:00"),
    ("00:00 on 2026-12-05 JST", "2026-12-04T15:00:00+00:00"),
    ("2026年12月1日 08:00", "2026-12-01T08:00:00+00:00"),
    ("12月1日 下午3点", "2026-12-01T15:00:00+00:00"),
    ("12月1日8時30分", "2026-12-01T08:30:00+00:00"),
    ("北京时间 2026-12-01 08:00", "2026-12-01T00:00:00+00:00"),
    ("2026年12月1日 午前9時 日本時間", "2026-12-01T00:00:00+00:00"),
    ("2026년 12월 1일 오후 3시", "2026-12-01T15:00:00+00:00"),
    ("明天 00:00", "2026-11-30T00:00:00+00:00"),
    ("Sep 5th, 2027 3:30 PM", "2027-09-05T15:30:00+00:00"),
    ("5. Januar um 14:00 Uhr", "2027-01-05T14:00:00+00:00"),
    ("Montag, dem 30. November, um 9 Uhr", "2026-11-30T09:00:00+00:00"),
    ("05.12.2026 14:00 MEZ", "2026-12-05T14:00:00+01:00"),
    ("1er janvier 2027 à 14h30", "2027-01-01T14:30:00+00:00"),
    ("lundi 30 nov. à 9 h", "2026-11-30T09:00:00+00:00"),
    ("5 de enero de 2027 a las 15:00", "2027-01-05T15:00:00+00:00"),
    ("mañana a las 9:00 de la noche", "2026-11-30T21:00:00+00:00"),
    ("5 de janeiro de 2027 às 15h", "2027-01-05T15:00:00+00:00"),
    ("5 gennaio 2027 alle ore 15:00", "2027-01-05T15:00:00+00:00"),
    ("5 января 2027 г. в 15:00 МСК", "2027-01-05T15:00:00+03:00"),
    ("завтра в 9 утра", "2026-11-30T09:00:00+00:00"),
    ("2026年12月5日(土) 15時30分", "2026-12-05T15:30:00+00:00"),
    ("来週の月曜日の9時", "2026-11-30T09:00:00+00:00"),
    ("2026년 12월 5일 (토) 오후 3시", "2026-12-05T15:00:00+00:00"),
    ("월요일 오전 9시", "2026-11-30T09:00:00+00:00"),
    ("下周一零点", "2026-11-30T00:00:00+00:00"),
    ("周五 08:00", "2026-12-04T08:00:00+00:00"),
    ("1796424885", "2026-12-04T22:54:45+00:00"),
    ("1796424885000", "2026-12-04T22:54:45+00:00"),
]


@pytest.mark.parametrize("text, wanted", MOMENTS)
def test_a_moment_is_read(text: str, wanted: str) -> None:
    assert instant(text, NOW) == pytest.approx(datetime.fromisoformat(wanted).timestamp())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "15",
        "2026",
        "12:99",
        "25:00",
        "2026-02-30",
        "2026-13-01",
        "13pm x",
        "Feb 30",
        "Nov 29 at 3am",
        "99999999999999999",
    ],
)
def test_what_is_no_moment_is_none(text: str) -> None:
    assert instant(text, NOW) is None


def test_a_moment_without_a_zone_is_in_the_home_zone() -> None:
    assert instant("2026-12-01 08:00:00", NOW, SHANGHAI) == datetime(2026, 12, 1, tzinfo=UTC).timestamp()


def test_an_unknown_zone_leaves_the_moment_in_the_home_zone() -> None:
    assert instant("2026-12-01 08:00 Nowhere/Atall", NOW, SHANGHAI) == datetime(2026, 12, 1, tzinfo=UTC).timestamp()


def test_cst_is_chinas_where_the_home_clock_is_called_so_and_americas_elsewhere() -> None:
    assert instant("2026-12-01 08:00 CST", NOW, SHANGHAI) == datetime(2026, 12, 1, tzinfo=UTC).timestamp()
    assert instant("2026-12-01 08:00 CST", NOW) == datetime(2026, 12, 1, 14, tzinfo=UTC).timestamp()


def test_a_date_without_a_year_that_has_just_passed_is_not_next_years() -> None:
    assert instant("Nov 28", NOW) is None
    assert instant("Aug 28", NOW) is None


def test_a_time_of_day_in_a_zone_keeps_its_clock_across_a_change_of_clocks() -> None:
    before_change = datetime(2026, 10, 31, 20, 0, tzinfo=ZoneInfo("America/New_York")).timestamp()
    wanted = datetime(2026, 11, 1, 15, 0, tzinfo=ZoneInfo("America/New_York")).timestamp()
    assert instant("3pm (America/New_York)", before_change) == wanted


def test_a_moment_ends_where_the_sentence_goes_on() -> None:
    text = "reset 2026-12-01 08:00:00 UTC (2056)"
    assert instant_at(text, 6, NOW) == (datetime(2026, 12, 1, 8, tzinfo=UTC).timestamp(), text.index(" (2056)"))


@pytest.mark.parametrize("now", [1e18, -1e18])
def test_a_now_beyond_the_calendar_has_no_next_moment(now: float) -> None:
    assert instant("3pm CST", now) is None


@pytest.mark.parametrize("name", [None, "", 5, "Nowhere/Atall", "../etc/passwd", "America", "a\0b"])
def test_a_zone_that_does_not_exist_is_none(name: object) -> None:
    assert zone(name) is None


moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)
offsets = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moments, offsets)
def test_what_is_written_is_what_is_read(moment: datetime, offset: tzinfo) -> None:
    local = moment.astimezone(offset)
    for text in (
        local.isoformat(),
        local.isoformat(" "),
        f"{local:%Y-%m-%d %H:%M:%S %z}",
        f"{local:%b %d, %Y, %I:%M:%S %p UTC%z}",
    ):
        assert instant(text, NOW) == moment.timestamp(), text
    assert instant(format_datetime(moment, usegmt=True), NOW) == moment.timestamp()


@given(moments, moments)
def test_a_later_moment_is_not_read_as_earlier(one: datetime, other: datetime) -> None:
    first, second = instant(one.isoformat(), NOW), instant(other.isoformat(), NOW)
    assert first is not None and second is not None
    assert (first <= second) == (one <= other)


@given(
    st.integers(0, 23), st.integers(0, 59), st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia"])
)
def test_a_time_of_day_is_within_the_next_day_and_shows_on_its_clock(hour: int, minute: int, name: str) -> None:
    found = instant(f"{hour:02}:{minute:02} {name}", NOW)
    assert found is not None and NOW < found <= NOW + 86400
    shown = datetime.fromtimestamp(found, ZoneInfo(name))
    assert (shown.hour, shown.minute) == (hour, minute)


@given(st.text(alphabet=st.sampled_from("0123456789:-/TZ+ apm月日时Decat,.")), st.floats(-1e12, 1e12))
def test_any_text_is_a_moment_or_none(text: str, now: float) -> None:
    instant(text, now)
