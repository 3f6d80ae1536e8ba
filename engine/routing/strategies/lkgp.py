"""Last known good: whichever answered the newest request that was answered comes first, the others as they are written.

Traffic stays where it works, without trying the first of the list again and again while that fails.
"""

from __future__ import annotations

from collections.abc import Sequence

from faultwise.engine.routing.candidate import C, Draw


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """The one that succeeded last, then the others in the order of the configuration."""
    best = max(candidates, key=lambda one: one.record.good, default=None)
    if best is None or not best.record.good:
        return candidates
    return [best, *(one for one in candidates if one is not best)]
