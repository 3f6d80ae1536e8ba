"""How a wait grows with repeated failures, and how it is spread so that waiters do not come back together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwise.engine.verdict.timing import profile_of

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


def growth(policy: Policy, verdict: Verdict, auth: str) -> Growth:
    """The growth a policy sets for a verdict's scope and class of credential."""
    name = "model" if verdict.scope in ("model", "model_family") else profile_of(auth)
    cooldown = policy.profiles[name]["cooldown"]
    cap = min(cooldown.get("max", policy.caps["synthetic"]), policy.caps["synthetic"])
    reason = policy.reasons.get(verdict.reason)
    return Growth(cooldown["levels"], cap, reason.steps if reason is not None else ())


def wait(cooldown: float, source: str | None, level: int, growth: Growth, draw: float) -> float:
    """Seconds a lock of this level lasts. `draw` is in [0, 1).

    A backoff doubles with the level and is jittered over its whole length; a reason's own wait follows its steps; a
    stated or declared one is kept, and is never shortened by the jitter.
    """
    if source == "backoff":
        longest = min(cooldown * 2.0**level, growth.cap)
        floor = min(BACKOFF_FLOOR, longest)
        return floor + (longest - floor) * draw
    if source == "reason" and growth.steps:
        cooldown = growth.steps[min(level, len(growth.steps) - 1)]
    return cooldown + min(cooldown * STATED_SPREAD, STATED_SPREAD_LIMIT) * draw
