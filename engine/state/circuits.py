"""Every breaker: of providers at their hosts, and of declared ways out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from faultwise.engine.store.base import Store
from faultwise.engine.verdict.timing import TOLD

from . import breaker
from .breaker import DEGRADED, HALF_OPEN, OPEN, Blow, Breaker
from .growth import Growth, wait
from .lock import Exclusion, Identity, Trial
from .outcome import Change, Outcome
from .table import Table
from .thresholds import BreakerLimits
from .window import bucket

WIDE = frozenset(("provider", "host"))
OURS = frozenset(("provider", "network", "edge"))  # faults under which no answer of the provider itself was seen
TALLIED = 256  # buckets of successes kept for one circuit
PLAIN = Growth(0, 0.0)
Tally = dict[int, int]


class Circuits:
    """The local view of all breakers, and the successes that were counted beside them.

    A success in good times costs one addition: it reaches a record, and the store, with the next failure.
    """

    def __init__(self, store: Store, heard: Callable[[str, str, Breaker | None], None]) -> None:
        self.table: Table[Breaker] = Table("breaker", Breaker, store, lambda one, _: one.calm, heard)
        self._tallies: dict[str, Tally] = {}

    def current(self, key: str, limits: BreakerLimits, now: float) -> Breaker | None:
        """A breaker as it is now; None where nothing ever failed."""
        found = self.table.rows.get(key)
        if found is None or found.calm:
            return found
        tally = self._tallies.get(key)
        if breaker.current(found, limits, now, tally) is not found:
            _, found = self.table.change(key, lambda one: one and breaker.current(one, limits, now, tally), now)
        return found

    def closed(self, key: str | None, limits: BreakerLimits, now: float) -> tuple[Exclusion | None, bool]:
        """What a circuit says: what excludes a target, if anything, and whether others come before it."""
        if key is None or not limits.enabled:
            return None, False
        found = self.current(key, limits, now)
        if found is None or found.calm:
            return None, False
        word = "circuit_open" if found.egress is None else "egress_cooldown"
        if found.state == OPEN:
            return Exclusion(word, found.lock()), True
        if found.state == HALF_OPEN:
            # in its usual place: where others are well, nobody would come to try one that stands behind them
            return Exclusion(word, found.lock(), Trial(f"probe:{key}", key, limits.probe)), False
        return None, found.state == DEGRADED

    def failed(self, outcome: Outcome) -> Iterator[Change]:
        """Take a failed attempt in."""
        verdict, identity = outcome.verdict, outcome.identity
        assert verdict is not None, "a failure has one"
        if not outcome.limits.breaker.enabled or verdict.phase == "local":
            return
        stated = None
        if verdict.scope in WIDE and verdict.cooldown_source in TOLD and verdict.cooldown_s is not None:
            stated = wait(verdict.cooldown_s, verdict.cooldown_source, 0, PLAIN, outcome.draw)
        on_the_way = verdict.fault == "network" and identity.way is not None
        if verdict.counts_for_breaker or stated is not None:
            blow = Blow(
                started=outcome.started,
                now=outcome.now,
                reason=verdict.reason,
                rule=verdict.rule,
                status=verdict.status,
                counts=verdict.counts_for_breaker,
                stated=stated,
            )
            yield from self._blow(identity, on_the_way, outcome.limits.breaker, blow)
        elif verdict.upstream_status is not None and verdict.fault not in OURS:
            yield from self._answered(identity.circuit, outcome)
        if verdict.upstream_status is not None and not on_the_way and identity.way is not None:
            yield from self._answered(identity.way, outcome)

    def succeeded(self, outcome: Outcome) -> Iterator[Change]:
        """Take an answer in; one that started before the circuit opened says nothing about it."""
        yield from self._answered(outcome.identity.circuit, outcome)
        if outcome.identity.way is not None:
            yield from self._answered(outcome.identity.way, outcome)

    def tally(self, key: str, now: float) -> None:
        """Count an outcome that was no failure."""
        counts = self._tallies.get(key)
        if counts is None:
            counts = self._tallies[key] = {}
        at = bucket(now)
        if at in counts:
            counts[at] += 1
            return
        counts[at] = 1
        if len(counts) > TALLIED:
            del counts[min(counts)]

    def _blow(self, identity: Identity, on_the_way: bool, limits: BreakerLimits, blow: Blow) -> Iterator[Change]:
        key = identity.way if on_the_way and identity.way is not None else identity.circuit
        fresh = Breaker(key, identity.provider, identity.host, identity.egress if on_the_way else None)
        counted = self._tallies.pop(key, {})
        before, after = self.table.change(
            key, lambda one: breaker.failed(fresh if one is None else one, limits, blow, counted), blow.now
        )
        if before != after:
            yield Change("breaker", key, before, after)

    def _answered(self, key: str, outcome: Outcome) -> Iterator[Change]:
        found = self.table.rows.get(key)
        if found is None or found.calm:
            self.tally(key, outcome.now)
            return
        limits, started, now = outcome.limits.breaker, outcome.started, outcome.now
        before, after = self.table.change(key, lambda one: one and breaker.succeeded(one, limits, started, now), now)
        if before != after:
            yield Change("breaker", key, before, after)
        if after is not None and after.calm and found.state != DEGRADED:
            self._tallies.pop(key, None)  # it begins anew
        else:
            self.tally(key, now)

    def reset(self, key: str, now: float) -> bool:
        """Close a circuit by hand, and forget what it counted; whether it was there."""
        self._tallies.pop(key, None)
        before, _ = self.table.change(key, lambda one: one and _closed(one, now), now)
        return before is not None


def _closed(one: Breaker, now: float) -> Breaker:
    if one.calm and not one.window:
        return one
    step = breaker.Transition(now, one.state, breaker.CLOSED, "reset: by hand")
    transitions = (*one.transitions, step)[-breaker.TRANSITIONS :]
    return replace(
        one, state=breaker.CLOSED, opened=0.0, until=0.0, known=False, cycles=0, window=(), transitions=transitions
    )
