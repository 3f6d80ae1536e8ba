"""One value of a header or a JSON key, read by its kind into seconds from now.

Kinds are what tables and provider files name: `delta_s` and `delta_ms` (a bare number is that unit), `duration` (the
same as delta_s), `epoch_s`, `epoch_ms`, `instant` (a moment, or an epoch by magnitude) and `auto` (any of these; a bare
number by its magnitude). Whatever the kind, a number with a unit, a date and an ISO 8601 length mean what they say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Any

from .duration import DAY, duration, number, plain
from .instant import instant

KINDS = ("delta_s", "delta_ms", "duration", "epoch_s", "epoch_ms", "instant", "auto")
LIMIT = 3653 * DAY  # ten years: whoever says more does not mean a wait
CLIP = 128  # characters of a value that are looked at; a longer one is no time


def plausible(seconds: float | None) -> float | None:
    """The wait if it can be one: finite, ahead of now, within ten years. Anything else was not said."""
    return seconds if seconds is not None and math.isfinite(seconds) and 0 < seconds <= LIMIT else None


def wait(value: Any, kind: str, now: float, home: tzinfo = UTC) -> float | None:
    """The plausible wait, in seconds, that a value of this kind states; None where it states none."""
    if not isinstance(value, str):
        return _of_value(value, kind, now)
    if len(value) > CLIP:
        return None
    text = plain(value).strip().strip("\"'").strip()
    bare = number(text)
    if bare is not None:
        return plausible(_of_number(bare, kind, now))
    seconds = duration(text.removeprefix("~").removeprefix("in "))
    if seconds is not None:
        return plausible(seconds)
    epoch = instant(text, now, home)
    return None if epoch is None else plausible(epoch - now)


def _of_value(value: Any, kind: str, now: float) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        # An integer beyond any float's range would raise; it is no time either.
        return plausible(_of_number(float(value), kind, now)) if -1e18 < value < 1e18 else None
    return _of_parts(value) if isinstance(value, Mapping) else None


def _of_number(bare: float, kind: str, now: float) -> float | None:
    match kind:
        case "delta_ms":
            return bare / 1000
        case "epoch_s":
            return bare - now
        case "epoch_ms":
            return bare / 1000 - now
        case "delta_s" | "duration" if bare <= LIMIT:
            return bare
    return _by_magnitude(bare, now)


def _by_magnitude(bare: float, now: float) -> float:
    """Below 1e7 seconds from now, below 1e11 an epoch in seconds, else one in milliseconds."""
    if bare < 1e7:
        return bare
    return (bare if bare < 1e11 else bare / 1000) - now


def _of_parts(value: Mapping[Any, Any]) -> float | None:
    """A protobuf Duration as JSON of some relays: `{"seconds": 26, "nanos": 500000000}`."""
    total = 0.0
    for key, unit in (("seconds", 1.0), ("nanos", 1e-9)):
        part = value.get(key, 0)
        if isinstance(part, str):
            part = number(part) or 0
        if isinstance(part, bool) or not isinstance(part, int | float) or not -1e18 < part < 1e18:
            return None
        total += part * unit
    return plausible(total)
