"""The windows of a quota as upstreams tell them in the headers of their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite

from faultwise.dsl import duration

HOUR = 3600.0
DAY = 24 * HOUR

Get = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Window:
    """A share of 0 to 1 that is left, until `reset` (seconds since the epoch); `length` in seconds. None: not told."""

    left: float
    reset: float | None = None
    length: float | None = None

    def remaining(self, now: float) -> float:
        """The share that is left at `now`: all of it once the window is over."""
        return 1.0 if self.reset is not None and self.reset <= now else self.left

    @property
    def long(self) -> bool:
        """Whether it is one of days rather than of hours."""
        return self.length is not None and self.length > DAY


def windows(get: Get, now: float) -> tuple[Window, ...]:
    """The windows that headers tell; `get` gives a header by its lower-case name."""
    return (*_unified(get), *_codex(get, now), *_ratelimit(get, now))


def _unified(get: Get) -> Iterator[Window]:
    """Anthropic's subscriptions: the share that is used, and when it is given back."""
    for name, length in (("5h", 5 * HOUR), ("7d", 7 * DAY)):
        used = _number(get(f"anthropic-ratelimit-unified-{name}-utilization"))
        if used is not None:
            yield Window(_share(1.0 - used), _number(get(f"anthropic-ratelimit-unified-{name}-reset")), length)


def _codex(get: Get, now: float) -> Iterator[Window]:
    """OpenAI's subscriptions: per cent used, minutes of the window, seconds to its end."""
    for name in ("primary", "secondary"):
        used = _number(get(f"x-codex-{name}-used-percent"))
        if used is None:
            continue
        minutes = _number(get(f"x-codex-{name}-window-minutes"))
        seconds = _number(get(f"x-codex-{name}-reset-after-seconds"))
        reset = None if seconds is None else now + seconds
        yield Window(_share(1.0 - used / 100.0), reset, None if minutes is None else minutes * 60.0)


def _ratelimit(get: Get, now: float) -> Iterator[Window]:
    """The `x-ratelimit-*` headers of many: how much of how much, and a duration such as `6m0s`."""
    for what in ("requests", "tokens"):
        limit = _number(get(f"x-ratelimit-limit-{what}"))
        left = _number(get(f"x-ratelimit-remaining-{what}"))
        if limit and left is not None:
            yield Window(_share(left / limit), _after(get(f"x-ratelimit-reset-{what}"), now))


def _after(text: str | None, now: float) -> float | None:
    try:
        return None if text is None else now + duration(text)
    except ValueError:
        return None


def _number(text: str | None) -> float | None:
    try:
        found = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return found if isfinite(found) and found >= 0 else None


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
