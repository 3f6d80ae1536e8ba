"""Every lock of this process: what a verdict changes, and what a gate reads. Pure but for its own table.

Merging is monotone: terminal beats longer beats shorter, and an explicit longer end is never shortened. Failures of
attempts that started before the current lock began belong to the same step: they raise no level, but what they newly
say (a ban, a longer stated end) is taken. Only a success resets a level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwise.engine.verdict.timing import TOLD

from .growth import Growth, wait
from .lock import EXCLUSIONS, Exclusion, Identity, Lock
from .store import Memory, Store

if TYPE_CHECKING:
    from faultwise.engine.verdict.verdict import Verdict

TABLE_LIMIT = 10_000  # records; active locks are never evicted
COUNTED_SCOPES = frozenset(("provider", "host"))  # without a stated wait a failure there is only counted


@dataclass(frozen=True, slots=True)
class Change:
    """What one outcome did to one lock. `after` is None where the record is gone."""

    before: Lock | None
    after: Lock | None


class Locks:
    """The local view of all locks. A read of a healthy target is one look at an empty or small dict."""

    __slots__ = ("_store", "_table")

    def __init__(self, store: Store | None = None) -> None:
        self._store: Store = store if store is not None else Memory()
        self._table: dict[str, Lock] = {lock.key: lock for lock in self._store.load()}

    def __iter__(self) -> Iterator[Lock]:
        return iter(tuple(self._table.values()))

    def __len__(self) -> int:
        return len(self._table)

    def closed(self, keys: Iterable[str], now: float) -> Exclusion | None:
        """The first lock that closes a target, given its identity's keys; None: it may be tried.

        When a terminal state is due for its slow re-probe, one caller is let through and the next wait begins.
        """
        table = self._table
        if not table:
            return None
        for key in keys:
            lock = table.get(key)
            if lock is None:
                continue
            if lock.closes(now):
                return Exclusion("terminal" if lock.terminal else EXCLUSIONS[lock.scope], lock)
            if lock.terminal and lock.recheck is not None:
                self._keep(replace(lock, until=now + lock.recheck))
        return None

    def apply(
        self,
        verdict: Verdict,
        identity: Identity,
        growth: Growth,
        *,
        started: float,
        now: float,
        draw: float,
        recheck: float | None = None,
    ) -> Change | None:
        """Take a failed attempt's verdict in; None where it changes nothing.

        `started`: when the attempt began. `draw`: chance in [0, 1) for the jitter. `recheck`: seconds between slow
        re-probes of the terminal state the verdict names, None for never.
        """
        if not verdict.failed or verdict.scope == "request" or not _locks(verdict, identity):
            return None
        key = identity.key(verdict.scope)
        before = self._table.get(key)
        same_step = before is not None and started < before.since
        level = 0 if before is None else before.level if same_step else min(before.level + 1, growth.levels)
        found = _lock(verdict, identity, key, level, growth, now, draw, recheck)
        after = found if before is None else _merge(before, found, same_step, now)
        if after == before:
            return None
        self._keep(after)
        return Change(before, after)

    def success(self, keys: Iterable[str], *, started: float, now: float) -> tuple[Change, ...]:
        """Take a success in. It ends the records of everything it went through; a model's level is halved first.

        A success that started before a lock began says nothing about it, and none ends a terminal state that is never
        re-probed.
        """
        table = self._table
        if not table:
            return ()
        changes = []
        for key in keys:
            lock = table.get(key)
            if lock is None or started < lock.since or (lock.terminal and lock.recheck is None):
                continue
            changes.append(Change(lock, self._lower(lock, now)))
        return tuple(changes)

    def clear(self, key: str) -> bool:
        """Drop a lock by hand; whether there was one."""
        if self._table.pop(key, None) is None:
            return False
        self._store.drop(key)
        return True

    def active(self, now: float) -> tuple[Lock, ...]:
        """The locks that close something at `now`, the soonest end first."""
        closing = (lock for lock in self._table.values() if lock.closes(now))
        return tuple(sorted(closing, key=lambda lock: (lock.until is None, lock.until or 0.0, lock.key)))

    def keep_only(self, connections: frozenset[str]) -> tuple[Lock, ...]:
        """Drop the locks of connections that are no longer configured, and return them."""
        gone = tuple(lock for lock in self._table.values() if lock.connection not in connections)
        for lock in gone:
            self.clear(lock.key)
        return gone

    def _lower(self, lock: Lock, now: float) -> Lock | None:
        failures = (lock.level + 1) // 2 if lock.scope in ("model", "model_family") else 0
        if failures == 0:
            self.clear(lock.key)
            return None
        lowered = replace(lock, level=failures - 1, until=now)
        self._keep(lowered)
        return lowered

    def _keep(self, lock: Lock) -> None:
        if len(self._table) >= TABLE_LIMIT and lock.key not in self._table:
            self._evict(lock.since)
        self._table[lock.key] = lock
        self._store.put(lock)

    def _evict(self, now: float) -> None:
        ended = [lock for lock in self._table.values() if not lock.closes(now)]
        if ended:
            self.clear(min(ended, key=lambda lock: lock.until or 0.0).key)


def _locks(verdict: Verdict, identity: Identity) -> bool:
    if verdict.terminal:
        return True
    if verdict.cooldown_s is None:
        return False
    if verdict.scope in COUNTED_SCOPES and verdict.stated_s is None:
        return False
    return identity.cooling or verdict.scope not in ("connection", "egress")


def _lock(
    verdict: Verdict,
    identity: Identity,
    key: str,
    level: int,
    growth: Growth,
    now: float,
    draw: float,
    recheck: float | None,
) -> Lock:
    if verdict.terminal:
        until = None if recheck is None else now + recheck
    else:
        until = now + wait(verdict.cooldown_s or 0.0, verdict.cooldown_source, level, growth, draw)
    return Lock(
        key=key,
        scope=verdict.scope,
        provider=identity.provider,
        connection=identity.connection,
        model=identity.model if verdict.scope in ("model", "model_family") else None,
        reason=verdict.reason,
        rule=verdict.rule,
        status=verdict.status,
        since=now,
        until=until,
        known=verdict.cooldown_source in TOLD and verdict.terminal is None,
        temporary=verdict.temporary,
        wait_ok=verdict.wait_ok,
        level=level,
        terminal=verdict.terminal,
        recheck=recheck if verdict.terminal else None,
    )


def _merge(before: Lock, found: Lock, same_step: bool, now: float) -> Lock:
    if before.terminal:
        # a terminal state that is re-probed and refused again waits anew; a transient failure changes nothing
        return found if found.terminal and (found.recheck is None or not same_step) else before
    if found.terminal or not before.closes(now):
        return found
    if same_step and not found.known:
        return before
    if found.until is not None and before.until is not None and found.until > before.until:
        return replace(found, since=before.since) if same_step else found
    return replace(before, level=max(before.level, found.level))
