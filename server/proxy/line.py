"""Waiting for one connection: who may join the line, the pace at which it moves, and the slots at its end.

Everything here is local. A refusal says nothing about the upstream and touches no health; every wait has an end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass


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


class Line:
    """The requests for one connection. Whoever is let out by `join` says so with `leave`, if it has a slot."""

    __slots__ = ("bounds", "_taken", "_waiting", "_slots", "_next")

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._taken = 0
        self._waiting = 0
        self._slots: deque[asyncio.Future[None]] = deque()  # who waits for one, in order
        self._next = 0.0  # loop's time up to which the pace is spoken for

    @property
    def full(self) -> bool:
        """Whether a request would have to wait for a slot."""
        return self.bounds.slots is not None and self._taken >= self.bounds.slots

    @property
    def waiting(self) -> int:
        """How many wait."""
        return self._waiting

    async def join(self) -> Refusal | bool:
        """Wait for one's turn: whether it has a slot, or why it may not go out."""
        if self.bounds.depth and self._waiting >= self.bounds.depth and (self.full or self._pause() > 0):
            return FULL
        self._waiting += 1
        try:
            pause = self._pause()
            if pause > self.bounds.max_wait:
                return TIMEOUT
            if self.bounds.per_minute is not None:
                self._next = max(self._next, self._earliest()) + 60.0 / self.bounds.per_minute
            if pause > 0:
                await asyncio.sleep(pause)
            return await self._slot()
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        """Give a slot back: to whoever waits longest for one."""
        while self._slots:
            first = self._slots.popleft()
            if not first.done():
                first.set_result(None)
                return
        self._taken -= 1

    def _earliest(self) -> float:
        """A minute's requests may come at once after a quiet minute (the generic cell rate algorithm, ITU-T I.371)."""
        return asyncio.get_running_loop().time() - 60.0

    def _pause(self) -> float:
        """Seconds until the pace lets another one out."""
        if self.bounds.per_minute is None:
            return 0.0
        step = 60.0 / self.bounds.per_minute
        return max(self._next, self._earliest()) + step - asyncio.get_running_loop().time()

    async def _slot(self) -> bool:
        if self.bounds.slots is None:
            return False
        if not self.full and not self._slots:
            self._taken += 1
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._slots.append(turn)
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
