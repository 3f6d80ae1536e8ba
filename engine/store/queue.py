"""Changes that wait to be written, in the order in which keys were first touched, within a bound."""

from __future__ import annotations

import threading
from collections.abc import Callable

from .base import Change, Data

QUEUE_LIMIT = 10_000  # changes kept apart; beyond it those of one key are joined
Key = tuple[str, str]
Waiting = dict[Key, tuple[list[Change], int]]  # changes to make, and how many submissions they stand for


class Queue:
    """Filled by any thread, emptied by one. Nothing is lost: where there is no room, the outcome stands for its steps."""

    def __init__(self) -> None:
        self.ready = threading.Condition()
        self.collapsed = 0
        self.closing = False
        self._waiting: Waiting = {}
        self._released: dict[str, str] = {}
        self._writing = 0

    def __len__(self) -> int:
        with self.ready:
            return self._writing + sum(count for _, count in self._waiting.values())

    def put(self, key: Key, change: Change, settled: Data | None) -> None:
        """Add a change."""
        with self.ready:
            changes, count = self._waiting.get(key, ([], 0))
            if len(changes) and self._full():
                self.collapsed += 1
                changes = [_constant(settled)]
            else:
                changes = [*changes, change]
            self._waiting[key] = (changes, count + 1)
            self.ready.notify_all()

    def release(self, name: str, owner: str) -> None:
        """Add a claim to be given back."""
        with self.ready:
            self._released[name] = owner
            self.ready.notify_all()

    def take(self, patience: float) -> tuple[Waiting, dict[str, str]]:
        """Everything that waits; waits up to `patience` seconds for something to do."""
        with self.ready:
            if not self._waiting and not self._released and not self.closing:
                self.ready.wait(patience)
            taken, self._waiting = self._waiting, {}
            released, self._released = self._released, {}
            self._writing = sum(count for _, count in taken.values())
            return taken, released

    def done(self) -> None:
        """What was taken is written."""
        with self.ready:
            self._writing = 0
            self.ready.notify_all()

    def back(self, taken: Waiting, released: dict[str, str]) -> None:
        """What was taken could not be written: it comes before what was added meanwhile."""
        with self.ready:
            for key, (changes, count) in self._waiting.items():
                earlier, of = taken.get(key, ([], 0))
                taken[key] = ([*earlier, *changes], of + count)
            self._waiting = taken
            self._released = released | self._released
            self._writing = 0

    def wait(self, holds: Callable[[], bool], patience: float) -> bool:
        """Wait until something holds, looking whenever something was written."""
        with self.ready:
            return self.ready.wait_for(holds, patience)

    @property
    def empty(self) -> bool:
        """Whether nothing waits and nothing is being written. For use inside `wait`."""
        return not self._waiting and not self._released and not self._writing

    def _full(self) -> bool:
        # a bound on steps kept apart, counted only where a key has several: keys themselves are bounded by the tables
        return sum(len(changes) for changes, _ in self._waiting.values()) >= QUEUE_LIMIT


def _constant(data: Data | None) -> Change:
    return lambda _: data
