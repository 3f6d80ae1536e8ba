"""Weighted: first place falls to each target as often as its share of the weights says; so does each place after it
among those that are left.

Each target draws a time from the exponential distribution whose rate is its weight, and the soonest goes first: the
weighted sampling without replacement of Efraimidis and Spirakis (Information Processing Letters 97, 2006), with the keys
in logarithms. A weight of 0 is a last resort.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log

from faultwise.engine.routing.candidate import C, Draw


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """A random order by weight; those of weight 0 last, in the order of the configuration."""
    times = [-log(1.0 - draw()) / one.weight if one.weight > 0 else inf for one in candidates]
    return [one for _, one in sorted(zip(times, candidates, strict=True), key=lambda pair: pair[0])]
