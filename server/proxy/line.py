"""Waiting for one connection: who may join the line, the pace at which it moves, and the slots at its end.

Everything here is local. A refusal says nothing about the upstream and touches no health; every wait has an end.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from .pace import Pace
from .tally import Tally

LOOK = 0.02  # seconds between looks for slots that other workers gave back


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was not let out to a connection, and what a client is told if that was the last one."""

    status: int
    code: str
    message: str


FULL = Refusal(429, "RATE_LIMIT_QUEUE_FULL", "too many requests wait for this connection already")
TIMEOUT = Refusal(503, "RATE_LIMIT_QUEUE_TIMEOUT", "this connection was not free in time")
EXECUTION = Refusal(504, "RATE_LIMIT_EXECUTION_TIMEOUT", "this connection did not finish in time")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one line. Seconds, and numbers of requests; 0 and None: no bound."""

    depth: int = 0  # waiting at most
    max_wait: float = 30.0  # for its pace
    slot_wait: float = 5.0  # for a slot; then it goes out without one
    slots: int | None = None
    per_minute: int | None = None
    tokens: int | None = None  # a minute


class Line:
    """The requests for one connection. Whoever is let out by `join` says so with `leave`, if it has a slot."""

    __slots__ = ("bounds", "_looking", "_slots", "_tally", "_waiting")

    def __init__(self, bounds: Bounds, tally: Tally | None = None) -> None:
        self.bounds = bounds
        self._tally = tally if tally is not None else Tally()
        self._waiting = 0
        self._slots: deque[asyncio.Future[None]] = deque()  # who waits for one, in order
        self._looking: asyncio.TimerHandle | None = None

    @property
    def full(self) -> bool:
        """Whether a request would have to wait for a slot."""
        return self.bounds.slots is not None and self._tally.taken >= self.bounds.slots

    @property
    def taken(self) -> int:
        """How many slots are taken."""
        return self._tally.taken

    @property
    def waiting(self) -> int:
        """How many wait."""
        return self._waiting

    def pause(self, tokens: int = 0) -> float:
        """Seconds until the pace lets out a request of so many tokens; 0 or less: now."""
        return Pace(self.bounds.per_minute, self.bounds.tokens).pause(self._tally, tokens, time.monotonic())

    async def join(self, tokens: int = 0) -> Refusal | bool:
        """Wait for one's turn: whether it has a slot, or why it may not go out. `tokens`: it takes about so many."""
        bounds, tally = self.bounds, self._tally
        pace = Pace(bounds.per_minute, bounds.tokens)
        with tally:
            now = time.monotonic()
            pause = pace.pause(tally, tokens, now)
            if bounds.depth and self._waiting >= bounds.depth and (self.full or pause > 0):
                return FULL
            if pause > bounds.max_wait:
                return TIMEOUT
            pace.spend(tally, tokens, now)
        self._waiting += 1
        try:
            if pause > 0:
                await asyncio.sleep(pause)
            return await self._slot()
        finally:
            self._waiting -= 1

    def settle(self, tokens: int) -> None:
        """Enter tokens that a request took over what was said of it."""
        if self.bounds.tokens is not None:
            with self._tally:
                Pace(tokens=self.bounds.tokens).settle(self._tally, tokens, time.monotonic())

    def leave(self) -> None:
        """Give a slot back: to whoever waits longest for one."""
        if not self._handed():
            self._tally.give()

    def _handed(self) -> bool:
        """Give a slot to whoever waits longest for one here; whether anybody does."""
        while self._slots:
            first = self._slots.popleft()
            if not first.done():
                first.set_result(None)
                return True
        return False

    def _look(self) -> None:
        """Take what other workers gave back, for those that wait here; again while anybody does."""
        self._looking = None
        slots = self.bounds.slots
        while slots is not None and self._slots and self._tally.take(slots):
            if not self._handed():
                self._tally.give()
        if self._slots:
            self._look_later()

    def _look_later(self) -> None:
        if self._tally.shared and self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(LOOK, self._look)

    async def _slot(self) -> bool:
        if self.bounds.slots is None:
            return False
        if not self._slots and self._tally.take(self.bounds.slots):
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._slots.append(turn)
        self._look_later()
        try:
            async with asyncio.timeout(self.bounds.slot_wait):
                await turn
        except BaseException as error:
            given = turn.done() and not turn.cancelled()  # in the same moment
            if not given:
                self._slots.remove(turn)
            if isinstance(error, TimeoutError):
                return given
            if given:
                self.leave()
            raise
        return True
