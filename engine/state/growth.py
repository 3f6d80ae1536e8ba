"""How a wait grows with repeated failures, and how it is spread so that waiters do not come back together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .lock import MODEL_SCOPES
from .thresholds import Thresholds, thresholds

if TYPE_CHECKING:
    from faultwise.engine.policy.policy import Policy
    from faultwise.engine.verdict.verdict import Verdict

STATED_SPREAD = 0.05  # share of a stated or declared wait added at most
STATED_SPREAD_LIMIT = 5.0  # seconds added at most
BACKOFF_FLOOR = 1.0  # seconds a backoff keeps a target closed at least, whatever the draw


@dataclass(frozen=True, slots=True)
class Growth:
    """How often a made-up wait may double, what it may come to, and the waits of repeated episodes."""

    levels: int
    cap: float
    steps: tuple[float, ...] = ()
    base: float | None = None  # of a backoff; None: as the verdict says


def growth(policy: Policy, verdict: Verdict, auth: str, limits: Thresholds | None = None) -> Growth:
    """The growth for a verdict's scope and class of credential. `limits`: the connection's own, over the policy's."""
    if limits is None:
        limits = thresholds(policy.profiles, auth, policy.caps["synthetic"])
    backoff = limits.model.backoff if verdict.scope in MODEL_SCOPES else limits.cooldown
    reason = policy.reasons.get(verdict.reason)
    steps = reason.steps if reason is not None else ()
    return Growth(backoff.levels if backoff.exponential else 0, backoff.max, steps, backoff.base)


def wait(cooldown: float, source: str | None, level: int, growth: Growth, draw: float) -> float:
    """Seconds a lock of this level lasts. `draw` is in [0, 1).

    A backoff doubles with the level and is jittered over its whole length; a reason's own wait follows its steps; a
    stated or declared one is kept, and is never shortened by the jitter.
    """
    if source == "backoff":
        base = cooldown if growth.base is None else growth.base
        longest = min(base * 2.0 ** min(level, growth.levels), growth.cap)
        floor = min(BACKOFF_FLOOR, longest)
        return floor + (longest - floor) * draw
    if source == "reason" and growth.steps:
        cooldown = growth.steps[min(level, len(growth.steps) - 1)]
    return cooldown + min(cooldown * STATED_SPREAD, STATED_SPREAD_LIMIT) * draw
