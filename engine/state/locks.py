"""Locks of connections, models and egresses: what a verdict changes, and what a gate reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from faultwise.engine.policy.model import Terminal
from faultwise.engine.store.base import Store
from faultwise.engine.verdict.timing import TOLD

from . import merge
from .growth import Growth, growth
from .lock import CLOCK_SLACK, EXCLUSIONS, MODEL_SCOPES, OPERATOR, Exclusion, Identity, Lock, Trial, anchored
from .merge import Ending, Row, Strike
from .outcome import Change as Change
from .outcome import Outcome
from .table import Table
from .thresholds import Thresholds

if TYPE_CHECKING:
    from faultwise.engine.policy.policy import Policy
    from faultwise.engine.verdict.verdict import Verdict

COUNTED_SCOPES = frozenset(("provider", "host"))  # without a stated wait a failure there is only counted
MONEY = "credits_exhausted"


class Locks:
    """The local view of all locks."""

    def __init__(self, store: Store, heard: Callable[[str, str, Lock | None], None]) -> None:
        self.table: Table[Lock] = Table("lock", Lock, store, lambda lock, now: not lock.closes(now), heard)

    def __iter__(self) -> Iterator[Lock]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table.rows)

    def closed(self, key: str, now: float) -> Exclusion | None:
        """What a key's lock says; None: nothing against trying.

        A terminal state that is due for its slow re-probe excludes all but the one that gets its trial.
        """
        lock = self.table.rows.get(key)
        if lock is None:
            return None
        if now < lock.since - CLOCK_SLACK and lock.reason != OPERATOR and not lock.clean:
            _, lock = self.table.change(key, lambda one: one and anchored(one, now), now)
            assert lock is not None, "it was there"
        word = "terminal" if lock.terminal else EXCLUSIONS[lock.scope]
        if lock.closes(now):
            return Exclusion(word, lock)
        if lock.reason == OPERATOR:
            self.clear(key, now)  # it has served
        elif lock.terminal and lock.recheck is not None:
            return Exclusion(word, lock, Trial(f"recheck:{key}", key, lock.recheck, spent=True))
        return None

    def tried(self, trial: Trial, now: float) -> None:
        """A terminal state's re-probe begins: the next one may only after another wait."""

        def wait(lock: Lock | None) -> Lock | None:
            if lock is None or lock.terminal is None or lock.recheck is None:
                return lock
            return merge.moved(lock, max(lock.until or 0.0, now + lock.recheck))

        self.table.change(trial.key, wait, now)

    def failed(self, outcome: Outcome, siblings: Iterable[Identity]) -> tuple[Change, ...]:
        """Take a failed attempt in. `siblings`: connections that share its quota, for providers that count by egress."""
        assert outcome.verdict is not None and outcome.policy is not None, "a failure has both"
        strike = struck(outcome, outcome.policy, outcome.verdict)
        if strike is None:
            return ()
        before, after = self.table.change(strike.key, lambda lock: merge.failed(lock, strike), outcome.now)
        if before == after or after is None:
            return ()
        changes = [Change("lock", strike.key, before, after)]
        if not after.terminal and strike.scope == "connection":
            changes += self._widen(strike, after, siblings)
        return tuple(changes)

    def _widen(self, strike: Strike, source: Lock, siblings: Iterable[Identity]) -> Iterator[Change]:
        for sibling in siblings:
            key = sibling.account
            before, after = self.table.change(key, _cooled(sibling, source), strike.now)
            if before != after:
                yield Change("lock", key, before, after)

    def close(self, strike: Strike) -> Change | None:
        """Put one lock in place, whatever the verdict's scope."""
        before, after = self.table.change(strike.key, lambda lock: merge.failed(lock, strike), strike.now)
        return None if before == after else Change("lock", strike.key, before, after)

    def succeeded(self, keys: Iterable[str], started: float, now: float) -> Iterator[Change]:
        """Take a success in. It ends the records of everything it went through."""
        for key in keys:
            if key in self.table.rows:
                before, after = self.table.change(key, lambda lock: merge.succeeded(lock, started, now), now)
                if before != after:
                    yield Change("lock", key, before, after)

    def hold(self, lock: Lock, now: float) -> None:
        """Put a lock in place by hand."""
        self.table.change(lock.key, lambda _: lock, now)

    def clear(self, key: str, now: float) -> bool:
        """Drop a lock by hand; whether there was one."""
        before, _ = self.table.change(key, lambda _: None, now)
        return before is not None

    def renew(self, key: str, secret: str | None, now: float) -> bool:
        """Drop what was held against old credentials of a connection; whether there was anything."""
        before, after = self.table.change(key, lambda lock: merge.renewed(lock, secret), now)
        return before != after

    def active(self, now: float) -> tuple[Lock, ...]:
        """The locks that close something at `now`, the soonest end first."""
        closing = (lock for lock in self.table if lock.closes(now) or (lock.terminal and not lock.clean))
        return tuple(sorted(closing, key=lambda lock: (lock.until is None, lock.until or 0.0, lock.key)))


def struck(outcome: Outcome, policy: Policy, verdict: Verdict) -> Strike | None:
    """What a verdict does to one lock; None where it locks nothing."""
    identity, limits = outcome.identity, outcome.limits
    scope = _scope(policy, verdict, limits)
    ending = _ending(policy.terminals.get(verdict.terminal or ""), limits)
    row, within = _row(policy, verdict, identity, scope)
    if scope == "request" or (verdict.cooldown_s is None and ending is None):
        return None
    if scope in COUNTED_SCOPES and (limits.breaker.enabled or verdict.cooldown_source not in TOLD):
        return None
    transient = ending is None and (scope in ("connection", "egress") or (scope in MODEL_SCOPES and verdict.temporary))
    closed = identity.cooling or not transient
    if not closed and row is None:
        return None
    return Strike(
        verdict=verdict,
        identity=identity,
        key=identity.key(scope),
        scope=scope,
        growth=_growth(policy, verdict, limits, scope),
        started=outcome.started,
        now=outcome.now,
        draw=outcome.draw,
        ending=ending,
        row=row,
        within=within,
        cooldown=_local(verdict, limits),
        open=not closed,
        error=outcome.error,
    )


def burst(outcome: Outcome, policy: Policy, verdict: Verdict) -> Strike:
    """The shared backoff of a provider whose accounts met a bare limit one after the other."""
    return Strike(
        verdict=verdict,
        identity=outcome.identity,
        key=outcome.identity.circuit,
        scope="provider",
        growth=Growth(outcome.limits.cooldown.levels, outcome.limits.cooldown.max, (), outcome.limits.cooldown.base),
        started=outcome.started,
        now=outcome.now,
        draw=outcome.draw,
        error=outcome.error,
    )


def widens(policy: Policy, verdict: Verdict) -> bool:
    """Whether a provider counts this quota by its way out, so that all behind it cool."""
    reason = policy.reasons.get(verdict.reason)
    provider = policy.provider(verdict.provider)
    listed = {"*", provider.name} & policy.allowlists.egress_bucketed
    return (
        reason is not None
        and reason.lock == "quota_unit"
        and provider.quota_unit == "egress"
        and bool(listed)
        and verdict.terminal is None
    )


def _scope(policy: Policy, verdict: Verdict, limits: Thresholds) -> str:
    reason = policy.reasons.get(verdict.reason)
    if verdict.scope == "egress" and reason is not None and reason.lock == "quota_unit":
        return "connection"  # the state widens it
    by_status = verdict.layer == "default" and verdict.upstream_status in limits.model.statuses
    if (
        limits.model.enabled
        and by_status
        and verdict.terminal is None
        and verdict.scope in ("connection", *COUNTED_SCOPES)
    ):
        return "model"
    return verdict.scope


def _growth(policy: Policy, verdict: Verdict, limits: Thresholds, scope: str) -> Growth:
    grown = growth(policy, verdict, limits.profile, limits)
    if scope in MODEL_SCOPES and verdict.scope not in MODEL_SCOPES:
        backoff = limits.model.backoff
        return Growth(backoff.levels if backoff.exponential else 0, backoff.max, grown.steps, backoff.base)
    return grown


def _ending(terminal: Terminal | None, limits: Thresholds) -> Ending | None:
    if terminal is None or (terminal.name == MONEY and not limits.money_terminal):
        return None
    return Ending(terminal.name, terminal.recheck)


def _row(policy: Policy, verdict: Verdict, identity: Identity, scope: str) -> tuple[Row | None, float]:
    """The terminal state that repeated refusals like this one come to; never where there is no account."""
    if scope == "connection" and identity.auth != "none":
        for terminal in policy.terminals.values():
            statuses = terminal.refused_statuses or terminal.statuses
            if terminal.refused == verdict.reason and verdict.upstream_status in statuses:
                return Row(Ending(terminal.name, terminal.recheck), terminal.episodes, terminal.within), terminal.within
    return None, 86400.0


def _local(verdict: Verdict, limits: Thresholds) -> float | None:
    missing = verdict.reason == "model_not_found" and verdict.cooldown_source in ("reason", "backoff")
    return limits.model.local if missing and limits.profile == "local" else None


def _cooled(sibling: Identity, source: Lock) -> Callable[[Lock | None], Lock | None]:
    """A sibling's lock beside the one that failed: those that are terminal or closed for longer stay as they are."""

    def cooled(lock: Lock | None) -> Lock | None:
        if lock is not None and (lock.terminal or lock.until is None or lock.until >= (source.until or 0.0)):
            return lock
        return merge.beside(lock, source, sibling)

    return cooled
