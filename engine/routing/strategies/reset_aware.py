"""Reset aware: quota that would lapse unused is spent first.

A window's score is made of the share that is left and of how near its reset is; that of hours weighs 45 to 55, that of
days 25 to 75. A target's score is 35 parts its worst window of hours and 65 parts its worst window of days; a window
nobody told of counts half. Targets within 5 % of the best take turns, then those within 5 % of the best that is left, and
so on. Those with less than a tenth of any window left come last, so that they keep something for when all others are
closed.
"""

from __future__ import annotations

from collections.abc import Sequence

from faultwise.engine.routing.candidate import C, Draw
from faultwise.engine.routing.record import Record
from faultwise.engine.routing.window import Window

HOURS, DAYS = 0.35, 0.65
UNKNOWN = 0.5
TIE = 0.05
GUARDED = 0.1


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """The best score first, those that tie in turn, the guarded last."""
    kept = [is_guarded(one.record, now) for one in candidates]
    free = [one for one, guarded in zip(candidates, kept, strict=True) if not guarded]
    return [*_ranked(free, now), *_ranked([one for one, guarded in zip(candidates, kept, strict=True) if guarded], now)]


def score(record: Record, now: float) -> float:
    """How much is to be said for spending a target's quota now, 0 to 1."""
    hours = [_score(one, now, 0.45) for one in record.windows if not one.long]
    days = [_score(one, now, 0.25) for one in record.windows if one.long]
    return HOURS * min(hours, default=UNKNOWN) + DAYS * min(days, default=UNKNOWN)


def is_guarded(record: Record, now: float) -> bool:
    """Whether so little of a window is left that it is kept for need."""
    return any(window.remaining(now) < GUARDED for window in record.windows)


def _score(window: Window, now: float, share: float) -> float:
    return share * window.remaining(now) + (1.0 - share) * _pressure(window, now)


def _pressure(window: Window, now: float) -> float:
    """How near the reset is: 1 at it, 0 at the window's beginning and after it is over."""
    if window.reset is None or window.length is None or not window.length or window.reset <= now:
        return 0.0
    return max(0.0, 1.0 - (window.reset - now) / window.length)


def _ranked(candidates: Sequence[C], now: float) -> list[C]:
    scored = sorted(((score(one.record, now), one) for one in candidates), key=lambda pair: -pair[0])
    found: list[C] = []
    while scored:
        best = scored[0][0]
        tied = [one for value, one in scored if value >= best - TIE]
        scored = scored[len(tied) :]
        found += sorted(tied, key=lambda one: one.record.turn)
    return found
