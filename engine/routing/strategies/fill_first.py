"""Fill first: the first account takes everything until its quota is used up, then the next one.

The order of the configuration, but for accounts whose answers say that less than a fiftieth of a window is left: they go
last until it resets, before a refusal proves it.
"""

from __future__ import annotations

from collections.abc import Sequence

from faultwise.engine.routing.candidate import C, Draw

FULL = 0.02  # share of a window


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """In the order of the configuration; those that are full last."""
    return sorted(candidates, key=lambda one: any(window.remaining(now) < FULL for window in one.record.windows))
