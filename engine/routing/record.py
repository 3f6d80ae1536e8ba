"""What is known about one target from the requests it was sent: how often, how it went, what is left of its quota.

Belongs to one process and is bounded by the configuration: each target of a combo has one record, bound when the
configuration is taken in, so that a request looks nothing up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from .window import Window

USE_HALF_LIFE = 300.0  # seconds after which a use counts half
RECOVERY = 60.0  # seconds after which half of a bad name is forgotten, while nothing new is heard
OUTCOME_SHARE = 0.2  # of the newest outcome in the rate of successes
LATENCY_SHARE = 0.3  # of the newest latency in its average


@dataclass(slots=True, eq=False)
class Record:
    """`turn` and `good` number dispatches: of the newest one, and of the newest that succeeded; 0 for none."""

    turn: int = 0
    good: int = 0
    under_way: int = 0
    latency: float = 0.0  # seconds to the first content, averaged; 0 where nothing is known
    windows: tuple[Window, ...] = ()  # of its quota, as they were when a strategy asked for them last
    turns: Iterator[int] = field(default_factory=lambda: count(1), repr=False)  # shared by all records
    _uses: float = 0.0
    _used: float = 0.0  # when `_uses` was true
    _rate: float = 1.0
    _heard: float = 0.0  # when `_rate` was true

    def uses(self, now: float) -> float:
        """How often it was used lately."""
        return self._uses * _half(now - self._used, USE_HALF_LIFE)

    def rate(self, now: float) -> float:
        """The share of successes lately, 0 to 1; 1 where nothing is known."""
        return 1.0 - (1.0 - self._rate) * _half(now - self._heard, RECOVERY)

    def sent(self, now: float) -> int:
        """A request is sent to it; its turn."""
        self._uses, self._used = self.uses(now) + 1.0, now
        self.turn = next(self.turns)
        self.under_way += 1
        return self.turn

    def opened(self, turn: int, seconds: float, now: float) -> None:
        """It answered the request of that turn, its first content after so many seconds."""
        self._outcome(1.0, now)
        self.good = max(self.good, turn)
        self.latency += (seconds - self.latency) * (LATENCY_SHARE if self.latency else 1.0)

    def failed(self, now: float) -> None:
        """It did not answer a request, or not to its end."""
        self._outcome(0.0, now)

    def left(self) -> None:
        """A request it was sent is over, whichever way."""
        self.under_way -= 1

    def _outcome(self, value: float, now: float) -> None:
        rate = self.rate(now)
        self._rate, self._heard = rate + (value - rate) * OUTCOME_SHARE, now


@dataclass(slots=True)
class Records:
    """The records of all targets, kept over changes of the configuration."""

    _records: dict[str, Record] = field(default_factory=dict)
    _turns: Iterator[int] = field(default_factory=lambda: count(1))

    def of(self, key: str) -> Record:
        """The record of a target, made where there is none."""
        record = self._records.get(key)
        if record is None:
            record = self._records[key] = Record(turns=self._turns)
        return record

    def keep_only(self, keys: frozenset[str]) -> None:
        """Forget every other target."""
        self._records = {key: record for key, record in self._records.items() if key in keys}


def _half(age: float, life: float) -> float:
    return float(0.5 ** (max(0.0, age) / life))
