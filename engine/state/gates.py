"""Every window gate, and the entries of the connections behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from faultwise.engine.store.base import Store

from . import gate
from .gate import Gate
from .lock import CLOCK_SLACK, Exclusion, Identity
from .outcome import Change, Outcome
from .table import Table
from .thresholds import GateLimits

WIDE = frozenset(("provider", "host"))


class Gates:
    """The local view of all window gates."""

    def __init__(self, store: Store, heard: Callable[[str, str, Gate | None], None]) -> None:
        self.table: Table[Gate] = Table("gate", Gate, store, lambda one, now: not one.closes(now), heard)

    def closed(self, identity: Identity, limits: GateLimits, now: float) -> Exclusion | None:
        """What the gate of a provider or of one of its connections says; None: nothing against trying."""
        if not limits.enabled:
            return None
        for key in (identity.circuit, identity.account):
            found = self.table.rows.get(key)
            if found is None:
                continue
            if found.until and now < found.since - CLOCK_SLACK:
                _, found = self.table.change(key, lambda one: one and gate.current(one, now), now)
            if found is not None and found.closes(now):
                return Exclusion("provider_cooldown", found.lock())
        return None

    def failed(self, outcome: Outcome) -> Iterator[Change]:
        """Count a failure of the provider; failures of an account, a model or a request are none."""
        verdict, identity, limits = outcome.verdict, outcome.identity, outcome.limits.gate
        assert verdict is not None, "a failure has one"
        if not limits.enabled or verdict.scope not in WIDE:
            return
        told = (verdict.reason, verdict.rule, verdict.status)
        now, started, draw = outcome.now, outcome.started, outcome.draw

        def counted(one: Gate | None) -> Gate:
            return gate.failed(one or Gate(identity.circuit, identity.provider), limits, now, *told)

        def backed_off(one: Gate | None) -> Gate:
            fresh = one or Gate(identity.account, identity.provider, identity.connection)
            return gate.backed_off(fresh, limits, started, now, draw, *told)

        yield from self._changed(identity.circuit, counted, now)
        if identity.cooling:
            yield from self._changed(identity.account, backed_off, now)

    def succeeded(self, identity: Identity, started: float, now: float) -> Iterator[Change]:
        """A success clears the window; one that started before the gate closed says nothing about it."""
        for key in (identity.circuit, identity.account):
            if key in self.table.rows:
                yield from self._changed(key, lambda one: one if one and started < one.since else None, now)

    def clear(self, key: str, now: float) -> bool:
        """Open a gate by hand; whether there was one."""
        return bool(list(self._changed(key, lambda _: None, now)))

    def _changed(self, key: str, of: Callable[[Gate | None], Gate | None], now: float) -> Iterator[Change]:
        before, after = self.table.change(key, of, now)
        if before != after:
            yield Change("gate", key, before, after)
