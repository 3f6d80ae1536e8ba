"""Where locks are kept beyond this process. The memory store keeps them nowhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .lock import Lock


class Store(Protocol):
    """What a store can do. Reads on the hot path never come here: `Locks` holds the view."""

    def load(self) -> Iterable[Lock]:
        """Every lock that was put and not dropped."""

    def put(self, lock: Lock) -> None:
        """Keep a lock in place of any other of its key."""

    def drop(self, key: str) -> None:
        """Forget the lock of a key; nothing happens where there is none."""


class Memory:
    """`memory://`: locks end with the process."""

    def load(self) -> Iterable[Lock]:
        return ()

    def put(self, lock: Lock) -> None:
        pass

    def drop(self, key: str) -> None:
        pass
