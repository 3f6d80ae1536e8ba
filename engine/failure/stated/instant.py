"""Moments as upstreams write them: RFC 3339, HTTP dates, `Dec 5, 2026, 5:00 PM UTC`, `3:00 PM (America/New_York)`.

A moment is a date, a time of day, or both, in any order, with or without a zone. A date without a year, a weekday and
a time of day alone mean the next such moment after `now`. Results are seconds since the epoch, UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

from . import calendar as names
from .duration import DAY, plain
from .zones import zone_at

FAR = 180 * DAY  # a date without a year that lies further ahead is one that has just passed

_YEAR = r"(?:,?\s(?:de[l]?\s)?(?P<y>[0-9]{4}))?(?![0-9:])(?:\sг(?:ода\b|\.))?"
_DATES_IN_FIGURES = (
    re.compile(r"(?P<y>[0-9]{4})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})(?![0-9])"),
    re.compile(r"(?:(?P<y>[0-9]{4})\s?[年년]\s?)?(?P<m>[0-9]{1,2})\s?[月월]\s?(?P<d>[0-9]{1,2})\s?[日号號일]"),
    re.compile(
        rf"(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th|er|[.ºª°])?\s(?:(?:of|del?)\s)?{names.MONTH}{_YEAR}", re.IGNORECASE
    ),
    re.compile(rf"(?P<d>[0-9]{{1,2}})-{names.MONTH}-(?P<y>[0-9]{{4}}|[0-9]{{2}})(?![0-9])", re.IGNORECASE),
    re.compile(r"(?P<m>[0-9]{1,2})(?P<slash>/)(?P<d>[0-9]{1,2})/(?P<y>[0-9]{4})(?![0-9])"),
    re.compile(r"(?P<d>[0-9]{1,2})\.(?P<m>[0-9]{1,2})\.(?P<y>[0-9]{4})(?![0-9])"),
)
_DATES_IN_WORDS = (re.compile(rf"{names.MONTH}\s{{1,2}}(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?{_YEAR}", re.IGNORECASE),)
_WEEKDAY = re.compile(rf"{names.WEEKDAY},?\s{{0,2}}(?:(?:de[mn]|el|le)\s)?", re.IGNORECASE)
_WEEKDAY_ASIDE = re.compile(names.WEEKDAY_ASIDE, re.IGNORECASE)
_DAY = re.compile(names.DAY, re.IGNORECASE)
_HALF = rf"(?P<half>{names.HALF_BEFORE})?\s?"
_TIME = re.compile(
    rf"{_HALF}(?P<h>[0-9]{{1,2}})(?:[:.h](?P<m>[0-9]{{2}})(?::(?P<s>[0-9]{{2}}(?:[.,][0-9]{{1,9}})?))?)?(?![0-9:])"
    r"(?P<hour>\s?(?:h(?:(?:eu)?re?s?|oras?)?|uhr|часов|часа|ч)\b\.?)?"
    rf"(?:\s{{0,2}}(?P<behind>{names.HALF_BEHIND}))?",
    re.IGNORECASE,
)
_DRAWN_TIME = re.compile(
    _HALF + r"(?P<h>[0-9]{1,2})\s?(?:[时時](?![间間])|[点點]|시(?!간))(?:\s?整)?"
    r"(?:\s?(?P<m>[0-9]{1,2})\s?[分분](?:\s?(?P<s>[0-9]{1,2})\s?[秒초])?)?"
)
_NAMED_TIME = re.compile(names.NAMED_TIME, re.IGNORECASE)
_AT = r"(?:at|@|um|om|à|a\slas?|alle(?:\sore)?|ore|[àa]s|в)"
_AT_BEFORE = re.compile(rf"(?<!\w){_AT}\s{{1,2}}$", re.IGNORECASE)
_TO_TIME = re.compile(rf"T|[\s,]{{0,3}}(?:{_AT}\s{{1,2}}|-\s|에\s|の)?", re.IGNORECASE)
_TO_DATE = re.compile(r",?\s{1,2}(?:(?:on|of|am|el|le|em|il|del)\s{1,2})?", re.IGNORECASE)
_LATE_YEAR = re.compile(r"\s{1,2}([0-9]{4})(?![0-9])")
_EPOCH = re.compile(r"(?:[0-9]{13}|[0-9]{10}(?:\.[0-9]{1,9})?)(?![0-9a-z:/-]|\.[0-9])", re.IGNORECASE)
_GAP = re.compile(r"\s{0,2}:?\s{0,2}")


class Date(NamedTuple):
    """A day as written. Without a year it comes round again; `weekday` counts from Monday, `ahead` from today."""

    month: int = 0
    day: int = 0
    year: int | None = None
    weekday: int | None = None
    ahead: int | None = None


Time = tuple[int, int, float]


def instant(text: str, now: float, home: tzinfo = UTC) -> float | None:
    """A whole text that is a moment, as an epoch; None for anything else. Without a zone it is in `home`."""
    text = plain(text).strip()
    found = instant_at(text, 0, now, home)
    return found[0] if found and found[1] == len(text) else None


def instant_at(text: str, at: int, now: float, home: tzinfo = UTC) -> tuple[float, int] | None:
    """The moment written at this offset: its epoch and where it ends."""
    first_zone: tzinfo | None = None
    if text[at : at + 1].isdigit():
        if epoch := _EPOCH.match(text, at):
            digits = epoch[0]
            return float(digits) / (1000 if len(digits) == 13 else 1), epoch.end()
    else:
        first_zone, at = zone_at(text, at, home, now)  # `北京时间 2026-12-01 08:00`
        if first_zone and (gap := _GAP.match(text, at)):
            at = gap.end()
    date, end = _date_at(text, at)
    time: Time | None = None
    if date:
        joint = _TO_TIME.match(text, end)
        time, after = _time_at(text, joint.end(), True) if joint else (None, end)
        end = after if time else end
    else:
        time, end = _time_at(text, at, at_before(text, at))
        if not time:
            return None
    written_zone, end = zone_at(text, end, home, now)
    if not date and (joint := _TO_DATE.match(text, end)):
        date, after = _date_at(text, joint.end())
        end = after if date else end
        if date and not written_zone:
            written_zone, end = zone_at(text, end, home, now)
    if date and date.year is None and date.month and (late := _LATE_YEAR.match(text, end)):
        date, end = date._replace(year=int(late[1])), late.end()  # `Wed Oct 21 07:28:00 2026`
    epoch_s = _resolve(date, time or (0, 0, 0.0), now, written_zone or first_zone or home)
    return None if epoch_s is None else (epoch_s, end)


def at_before(text: str, at: int) -> bool:
    """Whether a word for `at`, in the sense of time, stands right before this offset."""
    return _AT_BEFORE.search(text, max(0, at - 10), at) is not None


def _date_at(text: str, at: int) -> tuple[Date | None, int]:
    weekday = None if text[at : at + 1].isdigit() else _WEEKDAY.match(text, at)
    start = weekday.end() if weekday else at
    for pattern in _DATES_IN_FIGURES if text[start : start + 1].isdigit() else _DATES_IN_WORDS:
        if found := pattern.match(text, start):
            aside = _WEEKDAY_ASIDE.match(text, found.end())
            return _date(found.groupdict()), aside.end() if aside else found.end()
    if weekday:
        name = weekday["weekday"].lower()
        number = names.WEEKDAYS.get(name, names.WEEKDAYS.get(name.rstrip(".日")))
        number = None if number is None else number + 7 * bool(weekday["late"])
        return Date(weekday=number), len(text[: weekday.end()].rstrip(" ,"))
    if day := _DAY.match(text, at):
        return Date(ahead=names.DAYS[day[0].lower()]), day.end()
    return None, at


def _date(parts: dict[str, str | None]) -> Date:
    name, year = parts.get("name"), parts["y"]
    month, day = names.MONTHS[name.lower()] if name else int(parts["m"] or 0), int(parts["d"] or 0)
    if parts.get("slash") and month > 12:  # `31/12/2026`
        month, day = day, month
    return Date(month, day, (2000 + int(year) if len(year) == 2 else int(year)) if year else None)


def _time_at(text: str, at: int, announced: bool) -> tuple[Time | None, int]:
    """A time of day, which must show that it is one: `3pm`, `15:00`, `8時`, not `15`; `15h` only where it was announced."""
    if named := _NAMED_TIME.match(text, at):
        return (names.NAMED_TIMES[named[0].lower()], 0, 0.0), named.end()
    if found := _DRAWN_TIME.match(text, at):
        return _time(found["half"], found["h"], found["m"], found["s"]), found.end()
    found = _TIME.match(text, at)
    if not found:
        return None, at
    hour = (found["hour"] or "").strip().lower()
    plainly = found["behind"] or found["m"] and text[found.end("h")] == ":" or hour == "uhr"
    if not plainly and not (announced and (found["m"] or hour)):
        return None, at
    return _time(found["behind"] or found["half"], found["h"], found["m"], found["s"]), found.end()


def _time(half: str | None, hour: str, minute: str | None, second: str | None) -> Time:
    clock = int(hour)
    if half and clock <= 12:
        clock = clock % 12 + names.HALVES[half.lower()]
    return clock, int(minute or 0), float((second or "0").replace(",", "."))


def _resolve(date: Date | None, time: Time, now: float, where: tzinfo) -> float | None:
    hour, minute, second = time
    if hour > 24 or minute > 59 or second >= 61:
        return None
    try:
        here = datetime.fromtimestamp(now, where)
        clock = here.replace(hour=hour % 24, minute=minute, second=0, microsecond=0, fold=0)
        late = timedelta(days=hour // 24, seconds=second)  # `24:00` is the next day's first moment; `:60` a leap second
        if date is None:
            return _next(clock + late, now, 1)
        if date.ahead is not None:
            return (clock + late + timedelta(days=date.ahead)).timestamp()
        if date.weekday is not None:
            days = date.weekday - here.weekday()  # one of next week's counts from 7
            return _next(clock + late + timedelta(days=days if date.weekday > 6 else days % 7), now, 7)
        if date.year is not None:
            return (clock.replace(year=date.year, month=date.month, day=date.day) + late).timestamp()
        return _yearless(clock, date, now, late)
    except (ValueError, OverflowError, OSError):  # no such day, or beyond what a calendar holds
        return None


def _next(moment: datetime, now: float, days: int) -> float:
    epoch = moment.timestamp()
    return epoch if epoch > now else (moment + timedelta(days=days)).timestamp()


def _yearless(clock: datetime, date: Date, now: float, late: timedelta) -> float | None:
    day = clock.replace(month=date.month, day=date.day)
    epoch = (day + late).timestamp()
    if epoch <= now:
        epoch = (day.replace(year=day.year + 1) + late).timestamp()
    return epoch if epoch - now < FAR else None
