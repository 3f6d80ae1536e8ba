"""The loop: a target, its gates, an attempt, a verdict, the state; the next target, a wait, or an answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from faultwise.engine.failure.record import REQUEST_LIMIT
from faultwise.engine.state.budget import Budget
from faultwise.engine.state.lock import Exclusion, Lock
from faultwise.engine.state.outcome import Change, View
from faultwise.engine.state.outcome import Outcome as Report
from faultwise.engine.state.patience import Patience
from faultwise.engine.state.state import State
from faultwise.engine.verdict.decide import Decision
from faultwise.engine.verdict.verdict import Verdict
from faultwise.server.cell import Active
from faultwise.server.gateway import Key
from faultwise.server.journal.redact import redacted
from faultwise.server.observer import Observer

from .access import presented
from .attempt import Attempt, Opened
from .cutoff import cut_off
from .line import EXECUTION, Line, Refusal
from .outcome import Attempted, Excluded, Ledger, Outcome, Said, of_attempt, outcome, said
from .pace import Meter, estimate
from .plan import Plan
from .request import Call
from .rescue import rescued
from .rotation import Rotation
from .target import Target
from .upstream import Upstreams
from .usage import Usage
from .waiting import claimed, woken
from .watchdog import bounds

log = logging.getLogger("faultwise.state")
ERROR_LIMIT = 300  # characters of an upstream's words that the state keeps
LONG = 8 * 1024  # bytes of a request


@dataclass(slots=True)
class Relay:
    """One request on its way through its targets, under the policy it started with."""

    call: Call
    plan: Plan
    active: Active
    state: State
    upstreams: Upstreams
    clock: Callable[[], float]  # seconds since the epoch
    draw: Callable[[], float]  # in [0, 1)
    observer: Observer
    patience: Patience = Patience(0.0, 0.0, 0)
    budget: Budget = field(default_factory=Budget)
    ledger: Ledger = field(default_factory=Ledger)
    key: Key | None = None  # of the client
    meter: Meter | None = None  # of that key
    emergency: str = ""  # the reasons for which none of the targets answers, but the emergency's
    waited: float = 0.0  # seconds, for upstreams that failed and for locks to end
    _held: tuple[Exclusion, ...] = ()  # trials of the attempt under way
    _under_way: Attempt | None = None
    _last: Refusal | None = None  # of ours, the newest

    @property
    def tokens(self) -> int:
        """What the request takes, about."""
        return estimate(self.call.body)

    async def run(self) -> Opened | Outcome:
        """The first answer that may be committed, or what to tell the client."""
        loop = asyncio.get_running_loop()
        settings = self.active.settings
        until = loop.time() + settings.value("deadlines.total")
        self.budget.request(self.clock(), settings.value("budget.window"))
        while True:
            found = await self._round(until)
            if found is None:
                lock, pause = self._pause()
                if lock is not None and pause is not None and loop.time() + pause < until:
                    self.patience = self.patience.after(pause)
                    await asyncio.sleep(pause)
                    self.waited += pause
                    self._held = await woken(self.state, lock, self.call.id, self.clock, self.draw)
                    continue
                found = self._over()
            return found if isinstance(found, Opened) else await rescued(self, until) or found

    async def _round(self, until: float) -> Opened | Outcome | None:
        """Ask every target that may be asked, once; None where none answered."""
        rotation = Rotation()
        self.ledger.excluded[:] = [Excluded(one, Exclusion("unavailable")) for one in self.plan.unavailable]
        for target in self._order():
            if await self.excluded(target, rotation):
                continue
            asked = await self.asked(target, until)
            if isinstance(asked, Refusal):
                self._refused(target, asked)
                continue
            attempt, found = asked
            if isinstance(found, Opened):
                return found
            verdict = found.verdict
            await self.failed(attempt, found)
            if verdict.reason == "local_limit":
                if asyncio.get_running_loop().time() >= until:
                    return outcome(self.ledger, late=True)
                self._refused(target, EXECUTION)
                continue
            if rotation.refused(target, verdict):
                self.state.burst(self._report(attempt, verdict))
            final = self._final(verdict)
            if final is not None:
                return final
        return None

    async def asked(
        self, target: Target, until: float, call: Call | None = None
    ) -> Refusal | tuple[Attempt, Opened | Decision]:
        """Ask a target; once more where its stream only trickled before anything of it was committed."""
        watched = bounds(self.active.settings)
        line, slot, tries = target.line, None, 2
        while True:
            if line is not None:
                joined = await self._joined(line)
                if isinstance(joined, Refusal):
                    return joined
                slot = line if joined else None
                until = min(until, asyncio.get_running_loop().time() + self._longest(target))
            self.ledger.dispatched += 1
            number, now = self.ledger.dispatched, self.clock()
            given = call or self.call, target, self.active.policy, number, now, until, self.clock
            metered = self.meter is not None or (line is not None and line.bounds.tokens is not None)
            attempt = self._under_way = Attempt(*given, watched, slot, Usage() if metered else None)
            found = await attempt.open(self.upstreams)
            tries -= 1
            if isinstance(found, Opened) or not attempt.slow or not tries:
                return attempt, found

    def settle(self, opened: Opened | None) -> None:
        """Put the tokens that were estimated right, by what the answer says it took; without one it took none."""
        line = opened.attempt.target.line if opened is not None else None
        if line is None and self.meter is None:
            return
        used = opened.used() if opened is not None else 0
        if used is None:
            return
        if line is not None:
            line.settle(used - self.tokens)
        if self.meter is not None:
            self.meter.settle(used - self.tokens)

    async def _joined(self, line: Line) -> Refusal | bool:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            return await line.join(self.tokens)
        finally:
            self.waited += loop.time() - begun

    def _longest(self, target: Target) -> float:
        """Seconds an attempt may take at a connection with bounds; never less than the connection asks for itself."""
        longest: float = self.active.settings.value("queue.execution_max_wait")
        return max(longest, target.connection.deadlines.first_byte)

    def _refused(self, target: Target, refusal: Refusal) -> None:
        self._last = refusal
        pause = target.line.pause(self.tokens) if target.line is not None and refusal is not EXECUTION else 0.0
        self.ledger.excluded.append(Excluded(target, Exclusion("at_capacity"), pause if pause > 0 else None))

    def _over(self) -> Outcome:
        """The outcome when nothing is left. A refusal of ours is told only where nothing else is known."""
        elsewhere = any(one.verdict.reason != "local_limit" for one in self.ledger.attempted)
        closed = any(one.exclusion.lock is not None for one in self.ledger.excluded)
        refusal = self._last
        if refusal is None or elsewhere or closed:
            return outcome(self.ledger)
        ends = [one.seconds for one in self.ledger.excluded if one.seconds is not None]
        said = Said(refusal.message, refusal.code)
        return Outcome(refusal.status, "local_limit", said, retry_after=min(ends, default=None))

    async def failed(self, attempt: Attempt, decision: Decision) -> tuple[Change, ...]:
        """Enter a failed attempt into the ledger and the state; what that changed."""
        verdict = decision.verdict
        words = said(decision.reading, attempt.target.connection.hidden)
        kept = await self._kept(words.message)
        self.ledger.attempted.append(Attempted(attempt.target, verdict, words))
        changes = self._told(self._report(attempt, verdict, kept))
        _lines(self.call.id, changes, self.clock())
        self.waited += attempt.waited
        self.observer.failed(self.call, attempt, decision, changes)
        return changes

    def succeeded(self, attempt: Attempt) -> None:
        """Enter a success into the state."""
        _lines(self.call.id, self._told(self._report(attempt, ok=True)), self.clock())

    def finish(self) -> None:
        """Enter an attempt whose end nobody heard of: the client left, which says nothing about anybody."""
        if self._under_way is not None:
            self._told(self._report(self._under_way))
        self._let_go()

    def _told(self, report: Report) -> tuple[Change, ...]:
        self._under_way, self._held = None, ()
        return self.state.report(report)

    async def _kept(self, words: str) -> str:
        """An upstream's words as the state keeps them. A long prompt is compared with them beside the loop."""
        if not words:
            return ""
        given = words, self.call.body[:REQUEST_LIMIT], presented(self.call.headers, self.call.query)
        found = redacted(*given) if len(given[1]) <= LONG else await asyncio.to_thread(redacted, *given)
        return found[:ERROR_LIMIT]

    def _report(self, attempt: Attempt, verdict: Verdict | None = None, error: str = "", *, ok: bool = False) -> Report:
        target = attempt.target
        return Report(
            identity=target.identity,
            limits=target.limits,
            started=attempt.started,
            now=self.clock(),
            draw=0.0 if ok else self.draw(),
            policy=self.active.policy,
            verdict=verdict,
            ok=ok,
            trials=tuple(one.trial for one in self._held if one.trial is not None),
            owner=self.call.id,
            error=error,
        )

    def _order(self) -> Iterable[Target]:
        """The targets in the order of the plan's strategy, those of degraded providers behind the others."""
        targets = self.plan.order(self.draw, self.clock())
        if any(target.line is not None and target.line.full for target in targets):
            targets = sorted(targets, key=lambda target: target.line is not None and target.line.full)
        healthy = self.state.healthy
        if all(healthy(target.account) for target in targets):
            return targets
        now = self.clock()
        return sorted(targets, key=lambda target: self.state.view(target.identity, target.limits, now).degraded)

    async def excluded(self, target: Target, rotation: Rotation) -> bool:
        """Whether a target may not be tried; the first refusal is kept as its reason. Takes the trial it needs."""
        exclusion = self._refusal(target, rotation)
        trials: tuple[Exclusion, ...] = ()
        if exclusion is None and not self.state.healthy(target.account):
            view = self.state.view(target.identity, target.limits, self.clock())
            exclusion, trials = view.exclusion, view.trials
        if exclusion is None and target.connection.quota_cutoff is not None:
            exclusion = cut_off(target, self.clock())
        if exclusion is None and trials:
            now = self.clock()
            exclusion = await claimed(self.state, trials, self.call.id, now)
            if exclusion is None:
                self._held = (*self._held, *trials)
                self.state.tried(trials, now)
        if exclusion is None:
            return False
        left = exclusion.lock.left(self.clock()) if exclusion.lock is not None else None
        self.ledger.excluded.append(Excluded(target, exclusion, left))
        return True

    def _refusal(self, target: Target, rotation: Rotation) -> Exclusion | None:
        """Why this request does not ask a target that others may ask."""
        found = rotation.over(target)
        if found is not None or self.ledger.dispatched < 2:
            return found
        value = self.active.settings.value
        within = {name: value(f"budget.{name}") for name in ("window", "ratio", "floor")}
        return None if self.budget.extra(self.clock(), **within) else Exclusion("at_capacity")

    def _pause(self) -> tuple[Lock | None, float | None]:
        """The lock that ends soonest and the seconds to wait for it, where every target is only waiting."""
        self._let_go()
        if self.patience.times <= 0 or not self.plan.targets:
            return None, None
        now = self.clock()
        locks = [_closing(self.state.view(target.identity, target.limits, now)) for target in self.plan.targets]
        pause = self.patience.pause(locks, now, self.draw())
        if pause is None:
            return None, None
        return min(filter(None, locks), key=lambda lock: lock.until or 0.0), pause

    def _let_go(self) -> None:
        for one in self._held:
            if one.trial is not None and not one.trial.spent:
                self.state.store.release(one.trial.name, self.call.id)
        self._held = ()

    def _final(self, verdict: Verdict) -> Outcome | None:
        """The outcome that ends the request although targets are left; None: go on.

        A fault of the request ends it, unless another target might do better; the same refusal from a second provider
        proves that none will. What costs or acts is not sent again after a timeout: it may have been done.
        """
        attempted = self.ledger.attempted
        if verdict.scope == "request" and not verdict.fallback:
            return of_attempt(attempted[-1])
        if self.call.endpoint.billed and verdict.reason == "timeout":
            return of_attempt(attempted[-1])
        if verdict.scope == "request":
            newest = attempted[-1]
            for one in attempted[:-1]:
                if one.digest == newest.digest and one.target.provider != newest.target.provider:
                    return of_attempt(one)
        return None


def _closing(view: View) -> Lock | None:
    if view.exclusion is not None:
        return view.exclusion.lock
    return view.trials[0].lock if view.trials else None


def _lines(id: str, changes: Iterable[Change], now: float) -> None:
    """One line for each record that changed."""
    if not log.isEnabledFor(logging.INFO):
        return
    for change in changes:
        after = change.after
        if isinstance(after, Lock) and not after.clean:
            left = "-" if after.until is None else f"{after.until - now:.1f}"
            log.info(
                "lock request=%s key=%s reason=%s rule=%s terminal=%s level=%d seconds=%s",
                *(id, after.key, after.reason, after.rule or "-", after.terminal or "-", after.level, left),
            )
        elif change.kind == "breaker" and getattr(change.before, "state", "CLOSED") != after.state:
            log.info("breaker request=%s key=%s %s", id, change.key, after.transitions[-1].why)
