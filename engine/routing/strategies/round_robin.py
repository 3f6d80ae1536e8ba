"""Round robin: each in turn. Whose last turn is longest ago comes first, those that had none before all others, in the
order of the configuration. A turn is a request that was really sent, so one that is passed over while it is closed loses
nothing, and its neighbour does not get its share.
"""

from __future__ import annotations

from collections.abc import Sequence

from faultwise.engine.routing.candidate import C, Draw


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """The longest ago first."""
    return sorted(candidates, key=lambda one: one.record.turn)
