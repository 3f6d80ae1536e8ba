"""How many requests and tokens a minute: a minute's at once after a quiet minute (the generic cell rate algorithm,
ITU-T I.371). What a request takes in tokens is estimated before it, and put right by what its answer says it took.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from .tally import Tally

MINUTE = 60.0
BYTES = 4  # of a request's body that make a token, about


def estimate(body: bytes) -> int:
    """About how many tokens a request sends."""
    return len(body) // BYTES + 1


@dataclass(frozen=True, slots=True)
class Pace:
    """Numbers a minute; None: no bound. Times are those of `time.monotonic`, which all processes of a machine share."""

    requests: int | None = None
    tokens: int | None = None

    def pause(self, tally: Tally, tokens: int, now: float) -> float:
        """Seconds until a request of so many tokens may go; 0 or less: now.

        One of more than a minute's needs the whole of a quiet minute, and is paid off by those after it.
        """
        found = 0.0
        if self.requests is not None:
            found = max(tally.requests, now - MINUTE) + MINUTE / self.requests - now
        if self.tokens is not None:
            share = min(tokens / self.tokens, 1.0) * MINUTE
            found = max(found, max(tally.tokens, now - MINUTE) + share - now)
        return found

    def spend(self, tally: Tally, tokens: int, now: float) -> None:
        """Enter a request that goes."""
        if self.requests is not None:
            tally.requests = max(tally.requests, now - MINUTE) + MINUTE / self.requests
        if self.tokens is not None:
            tally.tokens = max(tally.tokens, now - MINUTE) + tokens / self.tokens * MINUTE

    def settle(self, tally: Tally, tokens: int, now: float) -> None:
        """Enter tokens that a request took over its estimate, or, below 0, did not take of it."""
        if self.tokens is not None:
            begun = tally.tokens if tokens < 0 else max(tally.tokens, now - MINUTE)
            tally.tokens = begun + tokens / self.tokens * MINUTE


@dataclass(slots=True, eq=False)
class Meter:
    """The pace of one client key. Nobody waits here: who is too fast is told when to come again."""

    pace: Pace
    tally: Tally

    def admit(self, tokens: int) -> float:
        """Enter a request; else the seconds until it may come."""
        with self.tally:
            now = time.monotonic()
            pause = self.pace.pause(self.tally, tokens, now)
            if pause <= 0:
                self.pace.spend(self.tally, tokens, now)
        return max(0.0, pause)

    def settle(self, tokens: int) -> None:
        """Enter tokens over the estimate of a request that was let in."""
        with self.tally:
            self.pace.settle(self.tally, tokens, time.monotonic())
