"""`memory://`: state ends with the process, and one process is all that shares it."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable

from .base import Change, Data, Row, StoreHealth, holds


class Memory:
    """Keeps records in a dict. Nothing is ever pending."""

    durable = False
    shared = False

    def __init__(self) -> None:
        self.salt = secrets.token_bytes(16)
        self.inbox: deque[Row] = deque()
        self._rows: dict[tuple[str, str], Data] = {}
        self._claims: dict[str, tuple[str, float, float]] = {}

    def load(self) -> Iterable[Row]:
        return [Row(kind, key, data) for (kind, key), data in self._rows.items()]

    def submit(self, kind: str, key: str, change: Change, settled: Data | None) -> None:
        before = self._rows.get((kind, key))
        after = change(before)
        if after is None:
            self._rows.pop((kind, key), None)
        else:
            self._rows[kind, key] = after
        self.inbox.append(Row(kind, key, after, 1))

    def claim(self, name: str, owner: str, now: float, until: float) -> bool:
        held = self._claims.get(name)
        if held is not None and held[0] != owner and holds(held[1], held[2], now):
            return False
        self._claims[name] = (owner, now, until)
        return True

    def release(self, name: str, owner: str) -> None:
        held = self._claims.get(name)
        if held is not None and held[0] == owner:
            del self._claims[name]

    def flush(self, patience: float) -> bool:
        return True

    def health(self) -> StoreHealth:
        return StoreHealth("memory", "ok")

    def close(self) -> None:
        self.inbox.clear()
