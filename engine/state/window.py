"""A sliding window of outcomes, counted in buckets of a few seconds: the window is exact to one bucket."""

from __future__ import annotations

from collections.abc import Mapping

BUCKET = 5.0  # seconds
Window = tuple[tuple[int, int, int], ...]  # bucket, failures, outcomes; ascending


def bucket(now: float) -> int:
    """The bucket an instant falls into."""
    return int(now // BUCKET)


def totals(window: Window, tally: Mapping[int, int], now: float, span: float) -> tuple[int, int]:
    """Failures and outcomes within the last `span` seconds. `tally`: outcomes by bucket that were no failures."""
    newest = bucket(now)
    oldest = newest - int(span // BUCKET)
    failures = outcomes = 0
    for at, failed, seen in window:
        if oldest < at <= newest:
            failures += failed
            outcomes += seen
    return failures, outcomes + sum(seen for at, seen in tally.items() if oldest < at <= newest)


def added(window: Window, tally: Mapping[int, int], failed: bool | None, now: float, span: float) -> Window:
    """The window with a tally and one outcome more (None: none), without what is too old or from the future."""
    newest = bucket(now)
    oldest = newest - int(span // BUCKET)
    counts = {at: (failures, seen) for at, failures, seen in window if oldest < at <= newest}
    for at, seen in tally.items():
        if oldest < at <= newest:
            failures, before = counts.get(at, (0, 0))
            counts[at] = (failures, before + seen)
    if failed is not None:
        failures, before = counts.get(newest, (0, 0))
        counts[newest] = (failures + failed, before + 1)
    return tuple((at, *counts[at]) for at in sorted(counts))
