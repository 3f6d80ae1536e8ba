"""The local view of one kind of record, kept current by a store. Reads are looks into a dict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Protocol, Self, TypeVar

from faultwise.engine.store.base import Change, Data, Row, Store

TABLE_LIMIT = 10_000  # records; beyond it those that close nothing and are oldest make room


class Record(Protocol):
    """What a table can hold."""

    @property
    def key(self) -> str:
        """Its name."""

    def to_data(self) -> dict[str, Any]:
        """It as a store keeps it."""

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """It as a store kept it."""


R = TypeVar("R", bound=Record)


class Table(Generic[R]):
    """Records by key. Every change is made here at once and handed to the store, which makes it again for all.

    `idle`: whether a record may make room. `heard`: told of each record that changed, None where it is gone.
    """

    def __init__(
        self,
        kind: str,
        form: type[R],
        store: Store,
        idle: Callable[[R, float], bool],
        heard: Callable[[str, str, R | None], None],
    ) -> None:
        self.kind = kind
        self.rows: dict[str, R] = {}
        self._form = form
        self._store = store
        self._idle = idle
        self._heard = heard
        self._kept = store.shared or store.durable  # else the view is all there is
        self._pending: dict[str, int] = {}
        self._sweep_at = TABLE_LIMIT

    def __iter__(self) -> Iterator[R]:
        return iter(tuple(self.rows.values()))

    def change(self, key: str, of: Callable[[R | None], R | None], now: float) -> tuple[R | None, R | None]:
        """Change a record; what it was and what it is. Where that is the same, nobody is told."""
        before = self.rows.get(key)
        after = of(before)
        if after is before or after == before:
            return before, before
        self._set(key, after)
        if self._kept:
            self._pending[key] = self._pending.get(key, 0) + 1
            self._store.submit(self.kind, key, self._stored(of), None if after is None else after.to_data())
        if len(self.rows) > self._sweep_at:
            self._sweep(now)
        return before, after

    def take(self, row: Row) -> None:
        """Take in what the store says."""
        if row.settles:
            left = self._pending.get(row.key, 0) - row.settles
            if left > 0:
                self._pending[row.key] = left
            else:
                self._pending.pop(row.key, None)
        if row.key in self._pending:
            return  # what we did since is on its way; the answer to that will hold both
        self._set(row.key, None if row.data is None else self._form.from_data(row.data))

    def lost(self) -> None:
        """The store began anew: give it what it does not have."""
        for key, record in self.rows.items():
            data = record.to_data()
            self._pending[key] = self._pending.get(key, 0) + 1
            self._store.submit(self.kind, key, _unless_there(data), data)

    def durable(self, key: str) -> bool:
        """Whether the store has acknowledged the record as it is here."""
        return self._store.durable and key in self.rows and key not in self._pending

    def _set(self, key: str, record: R | None) -> None:
        if record is None:
            if self.rows.pop(key, None) is None:
                return
        else:
            self.rows[key] = record
        self._heard(self.kind, key, record)

    def _stored(self, of: Callable[[R | None], R | None]) -> Change:
        form = self._form

        def change(data: Data | None) -> Data | None:
            after = of(None if data is None else form.from_data(data))
            return None if after is None else after.to_data()

        return change

    def _sweep(self, now: float) -> None:
        """Drop idle records, oldest first; active ones are never dropped, so the next sweep waits for as many again."""
        excess = len(self.rows) - TABLE_LIMIT
        idle = [key for key, record in self.rows.items() if self._idle(record, now)]
        for key in idle[: max(excess, len(idle) // 2)]:
            self.change(key, lambda _: None, now)
        self._sweep_at = max(TABLE_LIMIT, len(self.rows) + len(self.rows) // 4)


def _unless_there(data: Data) -> Change:
    return lambda before: data if before is None else before
