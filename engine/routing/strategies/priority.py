"""Priority: the targets as they are written; a later one is asked when those before it cannot."""

from __future__ import annotations

from collections.abc import Sequence

from faultwise.engine.routing.candidate import C, Draw


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """The order of the configuration."""
    return candidates
