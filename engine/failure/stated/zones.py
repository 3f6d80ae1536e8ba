"""Time zones as upstreams write them: `Z`, `+08:00`, `UTC+8`, `(America/New_York)`, `PT`, `北京时间`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from .duration import alternatives

# Names without a slash -> an IANA zone, or hours east of Greenwich where the name fixes the offset.
ABBREVIATIONS: dict[str, str | float] = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0,
    "PT": "America/Los_Angeles", "PST": -8, "PDT": -7,
    "MT": "America/Denver", "MST": -7, "MDT": -6,
    "CT": "America/Chicago", "CST": -6, "CDT": -5,
    "ET": "America/New_York", "EST": -5, "EDT": -4,
    "BRT": -3, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "МСК": 3, "MEZ": 1, "MESZ": 2, "IST": 5.5,
    "SGT": 8, "HKT": 8, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11,
}  # fmt: skip
WORDS: dict[str, str | float] = {
    "coordinated universal time": 0, "universal time": 0, "utc time": 0, "utc时间": 0, "gmt time": 0,
    "pacific": "America/Los_Angeles", "mountain": "America/Denver",
    "central": "America/Chicago", "eastern": "America/New_York",
    "china standard": 8, "beijing": 8, "singapore": 8, "japan standard": 9, "korea standard": 9, "india standard": 5.5,
    "московскому времени": 3, "московского времени": 3, "mitteleuropäischer zeit": 1, "heure de paris": "Europe/Paris",
    "hora de madrid": "Europe/Madrid", "ora di roma": "Europe/Rome", "hora de brasília": -3, "horário de brasília": -3,
    "北京时间": 8, "北京時間": 8, "中国标准时间": 8, "中國標準時間": 8, "台北時間": 8,
    "日本時間": 9, "日本標準時": 9, "한국 시간": 9, "한국시간": 9, "한국 표준시": 9,
}  # fmt: skip

_OFFSET = re.compile(
    r"\s{0,2}[(\[]?(?:(?:UTC|GMT)\s?(?P<named>[+\-−][0-9]{1,2}(?::?[0-9]{2})?)|(?P<bare>[+\-−][0-9]{2}(?::?[0-9]{2})?))"
    r"(?![0-9:])[)\]]?"
)
_NAME = re.compile(
    r"\s{0,2}[(\[]?\s?(?:"
    r"(?P<iana>[A-Z][A-Za-z_]{1,30}/[A-Za-z0-9_+\-]{1,30}(?:/[A-Za-z0-9_+\-]{1,30})?)"
    rf"|(?P<abbreviation>{alternatives(ABBREVIATIONS)})(?![A-Za-z0-9])"
    rf"|(?P<word>(?i:{alternatives(WORDS)}))(?:(?i:\s(?:standard|daylight))?(?i:\stime))?"
    r")(?:\s?[)\]])?"
)
_ASIDE = re.compile(r"\s?\(?[A-Z]{3,5}\b\)?")  # `+0800 CST`: the offset has said it


def zone(name: object) -> tzinfo | None:
    """The zone a provider file names, or None where there is no such zone."""
    return _iana(name) if isinstance(name, str) and name else None


def zone_at(text: str, at: int, home: tzinfo, now: float) -> tuple[tzinfo | None, int]:
    """The zone written at this offset and where it ends; (None, at) where none is.

    `home` decides what an ambiguous abbreviation means: CST is China's where the provider's own clock is called so.
    """
    if found := _OFFSET.match(text, at):
        shift = _shift(found["named"] or found["bare"])
        aside = _ASIDE.match(text, found.end())
        return shift, aside.end() if aside else found.end()
    if found := _NAME.match(text, at):
        if found["iana"]:
            return _iana(found["iana"]), found.end()
        short = found["abbreviation"]
        if short and _called(home, now) == short:
            return home, found.end()
        return _meant(ABBREVIATIONS[short] if short else WORDS[found["word"].lower()]), found.end()
    return None, at


def _called(home: tzinfo, now: float) -> str | None:
    try:
        return datetime.fromtimestamp(now, home).tzname()
    except (ValueError, OverflowError, OSError):  # a moment beyond what a calendar holds
        return None


def _shift(written: str) -> tzinfo | None:
    sign = 1 if written[0] == "+" else -1
    digits = written[1:].replace(":", "")
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    return timezone(sign * timedelta(hours=hours, minutes=minutes)) if hours < 24 and minutes < 60 else None


def _meant(meaning: str | float) -> tzinfo | None:
    return _iana(meaning) if isinstance(meaning, str) else timezone(timedelta(hours=meaning))


@lru_cache(maxsize=256)
def _iana(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError):  # the name is the upstream's: no such zone, a folder, not a zone at all
        return None
