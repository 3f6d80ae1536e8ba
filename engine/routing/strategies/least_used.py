"""Least used: whichever was sent the fewest requests lately comes first; of equals the one with fewer under way.

Uses are forgotten by half every five minutes, so a target that is new or was closed for long gets more than its share for
some minutes, not for as long as the others have been running.
"""

from __future__ import annotations

from collections.abc import Sequence

from faultwise.engine.routing.candidate import C, Draw


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """The least used first; of equals in the order of the configuration."""
    return sorted(candidates, key=lambda one: (one.record.uses(now), one.record.under_way))
