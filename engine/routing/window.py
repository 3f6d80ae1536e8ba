"""The windows of a quota as upstreams tell them in the headers of their answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite

MINUTE = 60.0
HOUR = 3600.0
DAY = 24 * HOUR
FARTHEST = 400 * DAY  # ahead of now that a reset can be
EPOCH, EPOCH_MS = 1e9, 1e12  # from here on a number is a time, and one in milliseconds
POLICIES = 8  # of one header that are looked at

Get = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Window:
    """A share of 0 to 1 that is left, until `reset` (seconds since the epoch); `length` in seconds. None: not told."""

    left: float
    reset: float | None = None
    length: float | None = None
    name: str = field(default="", compare=False)  # as the upstream calls it
    account: bool = field(default=False, compare=False)  # it is of the account, whatever the model

    def remaining(self, now: float) -> float:
        """The share that is left at `now`: all of it once the window is over."""
        return 1.0 if self.reset is not None and self.reset <= now else self.left

    @property
    def long(self) -> bool:
        """Whether it is one of days rather than of hours."""
        return self.length is not None and self.length > DAY


@dataclass(frozen=True, slots=True)
class _Amounts:
    """The headers that tell of one window how much of how much is left."""

    name: str
    left: str
    limit: str
    reset: str
    length: float | None = None


def _amounts() -> Iterator[_Amounts]:
    for what in ("requests", "tokens"):
        for period, length in (("", None), ("-minute", MINUTE), ("-hour", HOUR), ("-day", DAY)):
            yield _named_last("x-ratelimit", f"{what}{period}", length)
    for what in ("requests", "tokens", "input-tokens", "output-tokens"):
        yield _named_first(f"anthropic-ratelimit-{what}", what)
    for prefix in ("x-ratelimit", "ratelimit"):
        yield _named_first(prefix, prefix)


def _named_last(prefix: str, name: str, length: float | None) -> _Amounts:
    return _Amounts(name, f"{prefix}-remaining-{name}", f"{prefix}-limit-{name}", f"{prefix}-reset-{name}", length)


def _named_first(prefix: str, name: str) -> _Amounts:
    return _Amounts(name, f"{prefix}-remaining", f"{prefix}-limit", f"{prefix}-reset")


AMOUNTS = tuple(_amounts())
_LEADING = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?:[,;]|$)")
# A duration as answers spell it, by its units in seconds.
_SPELT = re.compile("".join(rf"(?:([0-9]{{1,9}}(?:\.[0-9]{{1,9}})?){unit})?" for unit in ("d", "h", "m", "s", "ms")))
UNITS = (DAY, HOUR, MINUTE, 1.0, 0.001)
_NAME = re.compile(r'\s*"?([\w.\-]{1,64})"?\s*;')
_PARAMETER = re.compile(r"([a-z]{1,12})\s?=\s?\"?([0-9]{1,15}(?:\.[0-9]{1,9})?)", re.IGNORECASE)


def windows(get: Get, now: float) -> tuple[Window, ...]:
    """The windows that headers tell; `get` gives a header by its lower-case name."""
    return (*_unified(get), *_codex(get, now), *_counted(get, now), *_draft(get, now))


def _unified(get: Get) -> Iterator[Window]:
    """Anthropic's subscriptions: the share that is used, and when it is given back."""
    for name, length in (("5h", 5 * HOUR), ("7d", 7 * DAY)):
        used = _number(get(f"anthropic-ratelimit-unified-{name}-utilization"))
        if used is not None:
            reset = _number(get(f"anthropic-ratelimit-unified-{name}-reset"))
            yield Window(_share(1.0 - used), reset, length, name, account=True)


def _codex(get: Get, now: float) -> Iterator[Window]:
    """OpenAI's subscriptions: per cent used, minutes of the window, seconds to its end."""
    for name in ("primary", "secondary"):
        used = _number(get(f"x-codex-{name}-used-percent"))
        if used is None:
            continue
        minutes = _number(get(f"x-codex-{name}-window-minutes"))
        seconds = _number(get(f"x-codex-{name}-reset-after-seconds"))
        reset = None if seconds is None else now + seconds
        length = None if minutes is None else minutes * 60.0
        yield Window(_share(1.0 - used / 100.0), reset, length, name, account=True)


def _counted(get: Get, now: float) -> Iterator[Window]:
    """The `x-ratelimit-*` headers of many and their kin: how much of how much, and when there is all of it again."""
    for one in AMOUNTS:
        told = get(one.left)
        if told is None:
            continue
        left, limit = _number(told), _leading(get(one.limit))
        if limit and left is not None:
            yield Window(_share(left / limit), _end(get(one.reset), now), one.length, one.name)


def _draft(get: Get, now: float) -> Iterator[Window]:
    """`RateLimit` of the IETF's drafts: `limit=100, remaining=5, reset=30`, or `"day";r=5;t=30` with its policy."""
    told = get("ratelimit")
    if told is None:
        return
    if "remaining" in told.lower():
        parts = _parts(told)
        if parts.get("limit") and "remaining" in parts:
            yield Window(_share(parts["remaining"] / parts["limit"]), _ahead(parts.get("reset"), now), name="ratelimit")
        return
    policies = {_named(one): _parts(one) for one in (get("ratelimit-policy") or "").split(",")[:POLICIES]}
    for one in told.split(",")[:POLICIES]:
        name, parts = _named(one), _parts(one)
        policy = policies.get(name, {})
        limit = policy.get("q", 0.0)
        if limit and "r" in parts:
            yield Window(_share(parts["r"] / limit), _ahead(parts.get("t"), now), policy.get("w"), name)


def _parts(text: str) -> dict[str, float]:
    return {key.lower(): float(amount) for key, amount in _PARAMETER.findall(text)}


def _named(text: str) -> str:
    found = _NAME.match(text)
    return found[1] if found else ""


def _end(text: str | None, now: float) -> float | None:
    """When a window ends: a duration (`6m0s`), seconds from now, a time since the epoch, or a date (RFC 3339)."""
    if text is None:
        return None
    number = _number(text)
    if number is not None:
        return _ahead(number / 1000.0 if number >= EPOCH_MS else number, now)
    spelt = _SPELT.fullmatch(text)
    if spelt is not None and text:
        return now + sum(float(part) * unit for part, unit in zip(spelt.groups(), UNITS, strict=True) if part)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _near((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), now)


def _ahead(number: float | None, now: float) -> float | None:
    """Seconds from now, or since the epoch, as a time."""
    if number is None:
        return None
    return _near(number if number >= EPOCH else now + number, now)


def _near(at: float, now: float) -> float | None:
    """A time, unless it is too far away to be a reset."""
    return at if at <= now + FARTHEST else None


def _leading(text: str | None) -> float | None:
    found = _LEADING.match(text) if text is not None else None
    return float(found[1]) if found else None


def _number(text: str | None) -> float | None:
    try:
        found = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return found if isfinite(found) and found >= 0 else None


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
