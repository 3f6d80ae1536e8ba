"""The newest lines, kept in memory: filtered, gathered by what no rule knows, and followed as they come."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from faultwise.engine.failure.intake import instant, intake
from faultwise.engine.history.starter import starters
from faultwise.engine.history.unmatched import Unmatched
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import conclude

from .line import Row

KEPT = 1000
BACKLOG = 1000  # lines a follower may be behind before it misses some
GROUP = ("digest", "provider", "status", "code", "type", "message", "reason")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which lines are asked for; None: whatever it is."""

    provider: str | None = None
    reason: str | None = None
    rule: str | None = None
    connection: str | None = None
    status: int | None = None  # told, or on the wire
    since: float | None = None
    unmatched: bool = False  # only what a status default decided

    def holds(self, row: Row) -> bool:
        """Whether a line is asked for. An outcome has neither provider nor connection."""
        said = row.get("verdict", row)
        if self.unmatched and said.get("layer") != "default":
            return False
        if self.provider is not None and str(row.get("provider", "")).lower() != self.provider.lower():
            return False
        if self.connection is not None and row.get("connection") != self.connection:
            return False
        if self.reason is not None and said.get("reason") != self.reason:
            return False
        if self.rule is not None and self.rule not in (said.get("rule"), said.get("restated_by")):
            return False
        if self.status is not None and self.status not in (said.get("status"), row.get("status")):
            return False
        return self.since is None or instant(row["time"]) >= self.since


class Follower:
    """One who reads lines as they come, in an event loop. One that is too slow misses some, and is told how many."""

    def __init__(self, wanted: Wanted, loop: asyncio.AbstractEventLoop) -> None:
        self.wanted = wanted
        self.missed = 0
        self._loop = loop
        self._queue: asyncio.Queue[Row] = asyncio.Queue(BACKLOG)

    def tell(self, rows: Iterable[Row]) -> None:
        """Give it lines, from any thread."""
        mine = [row for row in rows if self.wanted.holds(row)]
        if mine and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take, mine)

    async def next(self, patience: float) -> Row | None:
        """The next line; None where none came in so many seconds."""
        try:
            async with asyncio.timeout(patience):
                return await self._queue.get()
        except TimeoutError:
            return None

    def _take(self, rows: list[Row]) -> None:
        for row in rows:
            if self._queue.full():
                self.missed += 1
            else:
                self._queue.put_nowait(row)


class Recent:
    """The newest lines. Added to by one thread, read by any."""

    def __init__(self, size: int = KEPT) -> None:
        self._rows: deque[Row] = deque(maxlen=size)
        self._followers: tuple[Follower, ...] = ()

    def add(self, rows: list[Row]) -> None:
        """Take lines in, and tell followers."""
        self._rows.extend(rows)
        for follower in self._followers:
            follower.tell(rows)

    def find(self, wanted: Wanted, limit: int = KEPT) -> list[Row]:
        """The newest lines that are asked for, the newest first."""
        found: list[Row] = []
        for row in reversed(tuple(self._rows)):
            if wanted.holds(row):
                found.append(row)
                if len(found) >= limit:
                    break
        return found

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Tell a follower from now on, until what is returned is called."""
        self._followers += (follower,)

        def leave() -> None:
            self._followers = tuple(one for one in self._followers if one is not follower)

        return leave

    @property
    def following(self) -> int:
        """How many follow."""
        return len(self._followers)


def unmatched(rows: Iterable[Row], policy: Policy) -> list[dict[str, Any]]:
    """What no rule knows, by what it looks like, the most frequent first, with a rule to begin with for each.

    Decided anew from the redacted lines: what a newer rule knows by now is left out, and nothing is shown that is not
    in the log.
    """
    groups = Unmatched()
    seen = [row for row in rows if row["event"] == "attempt"]
    for number, row in enumerate(seen):
        groups.note(conclude(policy, intake(row, 0.0)), number)
    return [
        {
            "count": count,
            **{name: getattr(look, name) for name in GROUP},
            "last": seen[groups.first[look]]["time"],  # the newest line comes first
            "starter": starters([(look, count)]),
        }
        for look, count in groups.ranked()
    ]
