"""Lengths of time as upstreams write them: `7m12.5s`, `2h 30m`, `13 days`, `1 hour and 5 minutes`, `5小时30分钟`, `PT30S`.

One table of units in all languages; everything that reads a length of time reads it here. A length is a number with a
unit, then smaller ones; it is summed. What has no unit has no meaning here: see `value`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0

# Seconds -> how the unit is spelt. Words of one row may be of any language; letters are compared without case.
UNITS: dict[float, str] = {
    1e-9: "ns nanosecond nanoseconds",
    1e-6: "us μs microsecond microseconds",
    1e-3: "ms msec msecs millis millisecond milliseconds milisegundo milisegundos milissegundo milissegundos "
    "milliseconde millisecondes millisekunde millisekunden millisecondi мс миллисекунд миллисекунды "
    "毫秒 ミリ秒 밀리초",
    1.0: "s sec secs second seconds seg segs segundo segundos seconde secondes sek sekunde sekunden secondo secondi "
    "с сек секунд секунда секунды секунду 秒 秒钟 秒鐘 秒間 초 초간",
    MINUTE: "m min mins minute minutes minuto minutos minuti minuten мин минут минута минуты минуту "
    "分 分钟 分鐘 分間 분 분간",
    HOUR: "h hr hrs hour hours hora horas heure heures std stunde stunden ora ore ч час часа часов "
    "小时 小時 个小时 個小時 鐘頭 钟头 时间 時間 시간",
    DAY: "d day days día días dia dias jour jours tag tage tagen giorno giorni день дня дней 天 日 日間 일 일간",
    7 * DAY: "w wk wks week weeks semana semanas semaine semaines woche wochen settimana settimane "
    "недель неделя недели неделю 周 週 个星期 個星期 星期 週間 주 주일",
    30 * DAY: "mo month months mes meses mês mois monat monate monaten mese mesi месяц месяца месяцев "
    "个月 個月 か月 ヶ月 カ月 개월",
}
SECONDS = {name: seconds for seconds, names in UNITS.items() for name in names.split()}


def alternatives(words: Iterable[str]) -> str:
    """The words as one regex alternation, longest first, so that no word hides a longer one."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


# A spelt unit is the whole word (`5 models` is none); an ideograph or a syllable may be followed by anything.
_DRAWN = alternatives(name for name in SECONDS if ord(name[0]) >= 0x1100)
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,4}(?:\.[0-9]{1,12})?|[0-9]{1,15}(?:\.[0-9]{1,18}|,[0-9]{1,2})?)(?![0-9])"
WORDS = {
    "half an": 0.5, "an": 1.0, "a": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0,
    "seven": 7.0, "eight": 8.0, "nine": 9.0, "ten": 10.0, "thirty": 30.0, "sixty": 60.0,
}  # fmt: skip
NUMERALS = "一二两兩三四五六七八九十半"
_NUMERAL_VALUES = dict(zip(NUMERALS, (1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0.5), strict=True))
_TOKEN = re.compile(
    # `in a minute` and `in a second` are figures of speech, `in an hour` is not.
    rf"(?P<number>{NUMBER}|(?:half\s)?an(?=\s{{1,3}}hour)|a(?=\s{{1,3}}(?:day|week|month)\b)"
    rf"|(?:{alternatives(word for word in WORDS if len(word) > 2 and ' ' not in word)})\b|[{NUMERALS}]{{1,3}})"
    rf"[\s-]{{0,3}}(?P<unit>[a-zà-ɏμа-яё]{{1,16}}(?![a-zà-ɏμа-яё])|{_DRAWN})",
    re.IGNORECASE,
)
_JOINT = re.compile(r"\s{0,3},?\s{0,3}(?:(?:and|und|y|e|et|и|&)\s{1,3})?", re.IGNORECASE)
_CLOCK = re.compile(r"([0-9]{1,4}):([0-5][0-9]):([0-5][0-9](?:\.[0-9]{1,9})?)(?![0-9:])")
_ISO = re.compile(
    r"P(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?"
    r"(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,15}(?:[.,][0-9]{1,9})?)S)?)?(?![0-9A-Za-z])"
)
_ISO_SECONDS = (7 * DAY, DAY, HOUR, MINUTE, 1.0)
_BARE = re.compile(NUMBER)


def plain(text: str) -> str:
    """The text with full-width digits, letters and signs as their plain forms (NFKC); ASCII is returned as it is."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def number(text: str) -> float | None:
    """A whole text that is one unsigned number: `30`, `1.5`, `1,800`."""
    return _float(text) if _BARE.fullmatch(text) else None


def duration(text: str) -> float | None:
    """A whole text that is a length of time, in seconds; None for anything else, a bare number included."""
    text = plain(text).strip()
    if found := duration_at(text, 0):
        seconds, end = found
        return seconds if end == len(text) else None
    return None


def duration_at(text: str, at: int) -> tuple[float, int] | None:
    """The length of time that starts at this offset: its seconds and where it ends."""
    if text.startswith("P", at):
        return _iso_at(text, at)
    total, end, last = 0.0, at, float("inf")
    while token := _TOKEN.match(text, end if end == at else _after_joint(text, end)):
        unit = SECONDS.get(token["unit"].lower())
        if unit is None or unit >= last:  # `in 30 seconds, 2 minutes later`: the second is another length
            break
        total += _amount(token["number"].lower()) * unit
        end, last = token.end(), unit
    if last > HOUR and (clock := _CLOCK.match(text, end if end == at else _after_joint(text, end))):
        hours, minutes, seconds = clock.groups()  # `0:05:30`, `1 day, 2:03:04`
        return total + int(hours) * HOUR + int(minutes) * MINUTE + float(seconds), clock.end()
    return (total, end) if end > at else None


def _iso_at(text: str, at: int) -> tuple[float, int] | None:
    """ISO 8601: `PT30S`, `P1DT2H`."""
    found = _ISO.match(text, at)
    if not found or not any(found.groups()):
        return None
    parts = zip(found.groups(), _ISO_SECONDS, strict=True)
    return sum(_float(part) * unit for part, unit in parts if part), found.end()


def _after_joint(text: str, at: int) -> int:
    joint = _JOINT.match(text, at)
    return joint.end() if joint else at


def _amount(written: str) -> float:
    if written in WORDS:
        return WORDS[written]
    if written[0] in NUMERALS:
        tens, ten, ones = written.rpartition("十")  # `十五` 15, `二十` 20
        return (_NUMERAL_VALUES.get(tens, 1) * 10 if ten else 0) + _NUMERAL_VALUES.get(ones, 0)
    return _float(written)


def _float(written: str) -> float:
    """`1,800` is a thousand and more, `1,5` one and a half: a comma before exactly three digits groups them."""
    head, comma, tail = written.rpartition(",")
    if comma and len(tail) < 3 and tail.isdigit():
        return float(f"{head}.{tail}")
    return float(written.replace(",", ""))
