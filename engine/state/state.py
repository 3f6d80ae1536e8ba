"""All state of one process: one call for every outcome, one view for every gate.

    report(outcome)   what came of an attempt, whoever made it
    view(identity)    how a target stands now: open, excluded, or open to one trial at a time

Pure but for its tables, which a store keeps current. `now` and chance are handed in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from faultwise.engine.store.base import LOST, Store
from faultwise.engine.store.memory import Memory

from .breaker import Breaker
from .circuits import Circuits
from .gate import Gate
from .gates import Gates
from .lock import OPERATOR, Exclusion, Identity, Lock
from .locks import Locks, burst, widens
from .outcome import Change, Outcome, View
from .thresholds import Thresholds

FINE = View()


class State:
    """Breakers, window gates and locks over one store."""

    def __init__(self, store: Store | None = None) -> None:
        self.store: Store = store if store is not None else Memory()
        self._inbox = self.store.inbox
        self._known: dict[str, Identity] = {}  # by account, one of its identities
        self._reach: dict[str, set[str]] = {}  # the accounts behind a key that several share
        self._trouble: dict[tuple[str, str], set[str]] = {}  # what may close something, and for which accounts
        self._troubled: dict[str, int] = {}  # how many such things an account has
        self.locks = Locks(self.store, self._heard)
        self.circuits = Circuits(self.store, self._heard)
        self.gates = Gates(self.store, self._heard)
        self._tables: dict[str, Any] = {
            table.kind: table for table in (self.locks.table, self.circuits.table, self.gates.table)
        }
        for row in self.store.load():
            if row.kind in self._tables:
                self._tables[row.kind].take(row)

    # what is asked

    def healthy(self, account: str) -> bool:
        """Whether nothing at all is held against an account that is bound: one look into a dict."""
        return account not in self._troubled and not self._inbox

    def view(self, identity: Identity, limits: Thresholds, now: float) -> View:
        """How a target stands, its gates in order: breaker, window gate, connection, egress, model."""
        self.sync()
        account = self.bind(identity)
        if account not in self._troubled:
            return FINE
        degraded = False
        trials = []
        for exclusion, behind in self._gates(identity, limits, now):
            degraded |= behind
            if exclusion is None:
                continue
            if exclusion.trial is None:
                return View(exclusion, (), degraded)
            trials.append(exclusion)
        return View(None, tuple(trials), degraded)

    def _gates(self, identity: Identity, limits: Thresholds, now: float) -> Iterator[tuple[Exclusion | None, bool]]:
        yield self.circuits.closed(identity.circuit, limits.breaker, now)
        yield self.locks.closed(identity.circuit, now), False
        yield self.gates.closed(identity, limits.gate, now), False
        yield self.locks.closed(identity.hold, now), False
        yield self.locks.closed(identity.account, now), False
        if identity.way is not None:
            yield self.circuits.closed(identity.way, limits.breaker, now)
            yield self.locks.closed(identity.way, now), False
        for key in identity.keys()[-2:]:
            if key not in (identity.account, identity.way):
                yield self.locks.closed(key, now), False

    def claim(self, trials: Iterable[Exclusion], owner: str, now: float) -> Exclusion | None:
        """Take every trial, or none; what stands in the way. May wait for the disk; safe from any thread."""
        taken: list[str] = []
        for exclusion in trials:
            trial = exclusion.trial
            assert trial is not None, "a trial has one"
            if not self.store.claim(trial.name, owner, now, now + trial.seconds):
                for name in taken:
                    self.store.release(name, owner)
                return exclusion
            taken.append(trial.name)
        return None

    def tried(self, trials: Iterable[Exclusion], now: float) -> None:
        """Note that trials which were claimed begin."""
        for exclusion in trials:
            if exclusion.trial is not None and exclusion.trial.spent:
                self.locks.tried(exclusion.trial, now)

    # what is told

    def report(self, outcome: Outcome) -> tuple[Change, ...]:
        """Take in how an attempt ended; what that changed. A success in good times writes nothing."""
        verdict = outcome.verdict
        if outcome.trials:
            self._release(outcome)
        if verdict is None or not verdict.failed:
            return self._succeeded(outcome) if outcome.ok or verdict is not None else ()
        if verdict.phase == "local":
            return ()
        self.sync()
        self.bind(outcome.identity)
        return (
            *self.circuits.failed(outcome),
            *self.gates.failed(outcome),
            *self.locks.failed(outcome, self._siblings(outcome)),
        )

    def burst(self, outcome: Outcome) -> Change | None:
        """Let a whole provider back off, after several of its accounts met a bare limit in one request."""
        assert outcome.policy is not None and outcome.verdict is not None, "a failure has both"
        return self.locks.close(burst(outcome, outcome.policy, outcome.verdict))

    def _succeeded(self, outcome: Outcome) -> tuple[Change, ...]:
        identity = outcome.identity
        if self._inbox:
            self.sync()
        account = identity.account
        if account not in self._known:
            self.bind(identity)
        if account not in self._troubled:
            self.circuits.tally(identity.circuit, outcome.now)
            if identity.way is not None:
                self.circuits.tally(identity.way, outcome.now)
            if self.gates.table.rows:
                return tuple(self.gates.succeeded(identity, outcome.started, outcome.now))
            return ()
        return (
            *self.circuits.succeeded(outcome),
            *self.gates.succeeded(identity, outcome.started, outcome.now),
            *self.locks.succeeded(identity.keys(), outcome.started, outcome.now),
        )

    def _release(self, outcome: Outcome) -> None:
        for trial in outcome.trials:
            if not trial.spent:
                self.store.release(trial.name, outcome.owner)

    def _siblings(self, outcome: Outcome) -> list[Identity]:
        """The connections that cool with the one that failed: of the same group, behind the same egress."""
        mine = outcome.identity
        assert outcome.policy is not None and outcome.verdict is not None, "a failure has both"
        if mine.egress is None or not widens(outcome.policy, outcome.verdict):
            return []
        return [
            one
            for one in self._known.values()
            if one.account != mine.account
            and one.egress == mine.egress
            and one.cooling
            and (one.group or one.provider) == (mine.group or mine.provider)
        ]

    # what operators do

    def hold(self, connection: str, provider: str, until: float | None, now: float) -> Lock:
        """Close a connection by hand."""
        lock = Lock(
            key=f"hold:{connection}",
            scope="connection",
            provider=provider,
            connection=connection,
            model=None,
            reason=OPERATOR,
            rule=None,
            status=503,
            since=now,
            until=until,
            known=until is not None,
            temporary=True,
            wait_ok=False,
            external=True,
        )
        self.locks.hold(lock, now)
        return lock

    def clear(
        self, now: float, *, provider: str | None = None, connection: str | None = None, model: str | None = None
    ) -> list[str]:
        """Open everything that is named by hand; what is left out matches all. The keys that were cleared."""
        self.sync()
        wanted = {"provider": provider, "connection": connection, "model": model}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        cleared = []
        for lock in self.locks:
            if not lock.clean and all(getattr(lock, name) == value for name, value in wanted.items()):
                cleared += [lock.key] if self.locks.clear(lock.key, now) else []
        if connection is None and model is None:
            for circuit in self.circuits.table:
                if provider in (None, circuit.provider) and not (circuit.calm and not circuit.window):
                    cleared += [circuit.key] if self.circuits.reset(circuit.key, now) else []
        if model is None:
            for gate in self.gates.table:
                if provider in (None, gate.provider) and (connection is None or connection == gate.connection):
                    cleared += [f"gate:{gate.key}"] if self.gates.clear(gate.key, now) else []
        return cleared

    def configured(self, identities: Iterable[Identity], now: float) -> list[Lock]:
        """Know the connections of a configuration. The locks of others are dropped and returned, unless another
        router's; what was held against credentials that have changed is dropped too.
        """
        self.sync()
        found = {one.account: one for one in identities}
        self._known = {account: one for account, one in self._known.items() if one.external} | found
        self._reach.clear()
        for one in self._known.values():
            self._reached(one)
        self._recount()
        gone = []
        for lock in self.locks:
            account = f"{lock.provider}/{lock.connection}"
            if lock.connection is None or lock.external or account in found or lock.scope in ("provider", "host"):
                continue
            if self.locks.clear(lock.key, now):
                gone.append(lock)
        for account, one in found.items():
            self.locks.renew(account, one.secret, now)
        return gone

    # what the store says

    def sync(self) -> None:
        """Take in what the store heard since."""
        inbox = self._inbox
        while inbox:
            row = inbox.popleft()
            if row.kind == LOST:
                for table in self._tables.values():
                    table.lost()
            elif row.kind in self._tables:
                self._tables[row.kind].take(row)

    def durable(self, kind: str, key: str) -> bool:
        """Whether the store has acknowledged a record as it is here."""
        return bool(self._tables[kind].durable(key))

    def bind(self, identity: Identity) -> str:
        """Know an account, so that what is shared closes it too; its key."""
        account = identity.account
        known = self._known.get(account)
        if known is None or (known.external and (known.host, known.egress) != (identity.host, identity.egress)):
            self._known[account] = identity
            for key in self._reached(identity):
                for kind, table in self._tables.items():
                    if (kind, key) in self._trouble:
                        self._heard(kind, key, table.rows.get(key))
        return account

    def _reached(self, identity: Identity) -> list[str]:
        """Note whom a key closes that several share; those keys."""
        shared = [key for key in (identity.circuit, identity.way, identity.hold) if key is not None]
        for key in shared:
            self._reach.setdefault(key, set()).add(identity.account)
        return shared

    def _recount(self) -> None:
        kept = list(self._trouble)
        self._trouble.clear()
        self._troubled.clear()
        for kind, key in kept:
            self._heard(kind, key, self._tables[kind].rows.get(key))

    def _heard(self, kind: str, key: str, record: Lock | Breaker | Gate | None) -> None:
        """Keep count of what may close something."""
        if record is None:
            trouble = False
        elif isinstance(record, Lock):
            trouble = not record.clean
        else:
            trouble = not record.calm
        accounts = self._accounts(key, record) if trouble else set()
        before = self._trouble.get((kind, key), set())
        if accounts == before and (trouble or not before):
            if trouble:
                self._trouble[kind, key] = accounts
            return
        for account in accounts - before:
            self._troubled[account] = self._troubled.get(account, 0) + 1
        for account in before - accounts:
            left = self._troubled[account] - 1
            if left:
                self._troubled[account] = left
            else:
                del self._troubled[account]
        if trouble:
            self._trouble[kind, key] = accounts
        else:
            self._trouble.pop((kind, key), None)

    def _accounts(self, key: str, record: Lock | Breaker | Gate | None) -> set[str]:
        connection = getattr(record, "connection", None)
        if connection is None or key in self._reach or key.startswith("hold:"):
            return set(self._reach.get(key, ()))
        assert record is not None, "it has a connection"
        if isinstance(record, Lock) and record.scope in ("egress", "provider", "host") and "@" in key:
            return set(self._reach.get(key, ()))
        return {f"{record.provider}/{connection}"}
