"""A deadline that moves with every wait. One timer serves a whole stream: it is set anew only where it goes off too early."""

from __future__ import annotations

import asyncio
from typing import Any


class Alarm:
    """Cancels the task that waits, once its time is over; who waited asks `rang` whether that was it."""

    __slots__ = ("_at", "_handle", "_loop", "_rang", "_task")

    def __init__(self) -> None:
        self._at = 0.0  # loop's time
        self._handle: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rang = False
        self._task: asyncio.Task[Any] | None = None

    @property
    def waiting(self) -> bool:
        """Whether anyone waits."""
        return self._task is not None

    def set(self, seconds: float, until: float) -> None:
        """The running task begins to wait: for so many seconds, at most until the loop's time `until`."""
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        self._at = min(loop.time() + seconds, until)
        self._task = asyncio.current_task()
        if self._handle is None or self._handle.when() > self._at:
            if self._handle is not None:
                self._handle.cancel()
            self._handle = loop.call_at(self._at, self._check)

    def off(self) -> None:
        """The wait is over."""
        self._task = None

    def ring(self) -> None:
        """End the wait now."""
        if self._task is not None and not self._rang:
            self._rang = True
            self._task.cancel()

    def rang(self) -> bool:
        """Whether it was the alarm that cancelled the task, and nobody else besides. Takes the cancellation back."""
        task = self._task
        return self._rang and task is not None and task.uncancel() == 0

    def close(self) -> None:
        """Never go off again."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _check(self) -> None:
        assert self._loop is not None, "it was set"
        self._handle = None
        if self._task is None:
            return  # the next wait sets it
        if self._loop.time() < self._at:
            self._handle = self._loop.call_at(self._at, self._check)
        else:
            self.ring()
