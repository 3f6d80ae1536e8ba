"""Durations as text: the strict form of rule files, the lenient one of what upstreams send, and the canonical spelling.

All are float seconds. Arithmetic is exact until the last step, so that what is spelled reads back as the same number.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from .fold import fold

LONGEST = 10 * 365 * 86_400.0  # seconds; whatever claims to last longer is a mistake or not a duration

_UNITS = {"d": Fraction(86_400), "h": Fraction(3_600), "m": Fraction(60), "s": Fraction(1), "ms": Fraction(1, 1000)}
_RANK = {unit: rank for rank, unit in enumerate(_UNITS)}
_WORDS = {
    word: unit
    for unit, words in {
        "d": "d day days",
        "h": "h hr hrs hour hours",
        "m": "m min mins minute minutes",
        "s": "s sec secs second seconds",
        "ms": "ms msec msecs millisecond milliseconds",
    }.items()
    for word in words.split()
}

_DIGITS = r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
_BARE = re.compile(_DIGITS)
_PART = re.compile(rf"({_DIGITS})([a-z]+)")
_STRICT = re.compile(rf"(?:{_DIGITS}(?:ms|[dhms]))+")
_LENIENT_PART = re.compile(rf"({_DIGITS}) ?([a-z]+)(?:,? and |, ?| )?")
_ISO = re.compile(
    rf"p(?:(?P<d>{_DIGITS})d)?"
    rf"(?:t(?:(?P<h>{_DIGITS})h)?(?:(?P<m>{_DIGITS})m)?(?:(?P<s>{_DIGITS})s)?)?"
)


def duration(text: str) -> float:
    """The seconds a rule file means by `90s`, `1h30m`, `2d`, `500ms` or `1.5h`.

    Raises ValueError, in words for the author, for anything else: no unit, an unknown one, a wrong order.
    """
    if _BARE.fullmatch(text):
        raise ValueError(f"`{text}` has no unit, write `{text}s` for seconds")
    if not _STRICT.fullmatch(text):
        raise ValueError(f"`{text}` is not a duration, write it like `90s`, `1h30m`, `2d` or `500ms`")
    parts = _PART.findall(text)
    ranks = [_RANK[unit] for _, unit in parts]
    if any(rank >= later for rank, later in pairwise(ranks)):
        raise ValueError(f"`{text}` mixes its units up, write them once each, from days to milliseconds")
    total = float(sum(Fraction(digits) * _UNITS[unit] for digits, unit in parts))
    if total > LONGEST:
        raise ValueError(f"`{text}` is longer than ten years")
    return total


def stated(text: str) -> float | None:
    """The seconds an upstream means by `30`, `1.5`, `6m0s`, `2 hours 5 min` or `PT30S`; None when it states none.

    A bare number is seconds. Negative, endless and unreadable ones are None, never an exception.
    """
    folded = fold(text)
    if len(folded) > 100:
        return None
    if _BARE.fullmatch(folded):
        return bounded(float(folded))
    return _iso(folded) if folded.startswith("p") else _worded(folded)


def bounded(seconds: float) -> float | None:
    """`seconds` when it can be a duration: not negative, not beyond `LONGEST`, a number at all."""
    return seconds if 0 <= seconds <= LONGEST else None


def spell(seconds: float) -> str:
    """The canonical text of a duration: `duration(spell(x)) == x` for every x from 0 to `LONGEST`."""
    rest, parts = Fraction(str(seconds)), ""
    for unit in ("d", "h", "m"):
        count, rest = divmod(rest, _UNITS[unit])
        parts += f"{count}{unit}" if count else ""
    if not rest and parts:
        return parts
    thousandths = rest * 1000
    if thousandths.denominator != 1:
        return parts + _decimal(rest) + "s"
    whole, ms = divmod(thousandths.numerator, 1000)
    return parts + (f"{whole}s" if whole or not ms else "") + (f"{ms}ms" if ms else "")


def shown(seconds: float) -> str:
    """Seconds for people to read: `60 s`, `83274.5 s`; no finer than a millisecond."""
    return f"{round(seconds, 3):.15g} s"


def _iso(folded: str) -> float | None:
    """ISO 8601 durations without years and months, which have no fixed length."""
    match = _ISO.fullmatch(folded)
    if not match or folded in ("p", "pt") or folded.endswith("t"):
        return None
    return bounded(float(sum(Fraction(digits) * _UNITS[unit] for unit, digits in match.groupdict("0").items())))


def _worded(folded: str) -> float | None:
    total, position = Fraction(0), 0
    while position < len(folded):
        match = _LENIENT_PART.match(folded, position)
        unit = _WORDS.get(match[2]) if match else None
        if match is None or unit is None:
            return None
        total += Fraction(match[1]) * _UNITS[unit]
        position = match.end()
    return bounded(float(total)) if position else None


def _decimal(value: Fraction) -> str:
    digits = f"{float(value):.15f}".rstrip("0")
    return digits
