"""How long one request waits for targets that are only cooling down, instead of giving up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .lock import Lock

SPREAD = 0.05  # share of a wait added at most, so that waiters do not wake together
SPREAD_LIMIT = 1.0  # seconds added at most
MARGIN = 0.02  # seconds added at least
BUSY = 1.0  # seconds until a target on trial is looked at again


@dataclass(frozen=True, slots=True)
class Patience:
    """What is left of it: the longest single wait, seconds in all, and how often."""

    longest: float
    budget: float
    times: int

    def pause(self, locks: Iterable[Lock | None], now: float, draw: float) -> float | None:
        """Seconds to wait for the soonest end; None: do not wait.

        `locks` keep the targets closed, one for each; None is a target that nothing waitable keeps closed.
        """
        if self.times <= 0:
            return None
        ends = []
        for lock in locks:
            if lock is None or not (lock.temporary and lock.wait_ok) or lock.terminal or lock.until is None:
                return None
            ends.append(lock.until - now if lock.until > now else BUSY)
        if not ends or min(ends) > min(self.longest, self.budget):
            return None
        return min(ends) + MARGIN + min(SPREAD * min(ends), SPREAD_LIMIT) * draw

    def after(self, seconds: float) -> Patience:
        """What is left after a wait."""
        return replace(self, budget=self.budget - seconds, times=self.times - 1)
