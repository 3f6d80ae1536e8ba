"""The retry budget of one combo: attempts after the first fallback may not exceed a share of its traffic."""

from __future__ import annotations

SLICES = 10  # of a window


class Budget:
    """Counts requests and extra attempts in a sliding window. Belongs to one process."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[int, list[int]] = {}  # slice: requests, extra attempts

    def request(self, now: float, window: float) -> None:
        """Count a request."""
        at = int(now * SLICES / window)
        counts = self._counts.get(at)
        if counts is None:
            self._forget(at)
            counts = self._counts[at] = [0, 0]
        counts[0] += 1

    def extra(self, now: float, *, window: float, ratio: float, floor: float) -> bool:
        """Whether one more extra attempt is within the budget, which it then uses. `floor`: a second, always allowed."""
        at = int(now * SLICES / window)
        self._forget(at)
        requests = sum(counts[0] for counts in self._counts.values())
        extras = sum(counts[1] for counts in self._counts.values())
        if extras >= max(ratio * requests, floor * window):
            return False
        self._counts.setdefault(at, [0, 0])[1] += 1
        return True

    def _forget(self, at: int) -> None:
        for old in [one for one in self._counts if not at - SLICES < one <= at]:
            del self._counts[old]
