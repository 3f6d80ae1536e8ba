"""Power of two choices: of two targets drawn at random the cheaper comes first (Mitzenmacher, IEEE Transactions on
Parallel and Distributed Systems 12, 2001). It spreads load nearly as well as asking all, without a herd running to
whoever looked best a moment ago.

The cost of a target is the latency to expect, `latency x (under way + 1)`, divided by the square of its rate of successes:
failures cost a second attempt, and one that fails half the time is worth a quarter. Who has no latency yet counts as fast,
so that it gets one.
"""

from __future__ import annotations

from collections.abc import Sequence

from faultwise.engine.routing.candidate import C, Draw
from faultwise.engine.routing.record import Record

FAST = 0.001  # seconds, where no latency is known
HOPELESS = 0.01  # the least rate of successes that is divided by


def order(candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
    """The cheaper of two drawn, the other, then the rest in the order of the configuration."""
    if len(candidates) < 2:
        return candidates
    first = int(draw() * len(candidates))
    second = int(draw() * (len(candidates) - 1))
    second += second >= first
    pair = sorted((candidates[first], candidates[second]), key=lambda one: cost(one.record, now))
    return [*pair, *(one for at, one in enumerate(candidates) if at not in (first, second))]


def cost(record: Record, now: float) -> float:
    """What it costs to ask a target: seconds, weighed by how often it fails."""
    rate = max(record.rate(now), HOPELESS)
    return max(record.latency, FAST) * (record.under_way + 1) / rate**2
