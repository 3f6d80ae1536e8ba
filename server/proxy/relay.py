"""The loop: a target, its gates, an attempt, a verdict, the state; the next target, or an answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from faultwise.engine.state.growth import growth
from faultwise.engine.state.lock import Exclusion, Lock
from faultwise.engine.state.locks import Locks
from faultwise.engine.verdict.decide import Decision
from faultwise.engine.verdict.verdict import Verdict
from faultwise.server.cell import Active

from .attempt import Attempt, Opened
from .outcome import Attempted, Excluded, Ledger, Outcome, of_attempt, outcome, said
from .plan import Plan
from .request import Call
from .target import Target
from .upstream import Upstreams

log = logging.getLogger("faultwise.state")
ACCOUNT_SCOPES = ("connection", "egress")


@dataclass(slots=True)
class Relay:
    """One request on its way through its targets, under the policy it started with."""

    call: Call
    plan: Plan
    active: Active
    locks: Locks
    upstreams: Upstreams
    clock: Callable[[], float]  # seconds since the epoch
    draw: Callable[[], float]  # in [0, 1)
    ledger: Ledger = field(default_factory=Ledger)

    async def run(self) -> Opened | Outcome:
        """The first answer that may be committed, or what to tell the client."""
        until = asyncio.get_running_loop().time() + self.active.settings.value("deadlines.total")
        spent: set[str] = set()  # accounts that refused this request, whether or not that locked them
        self.ledger.excluded += [Excluded(one, Exclusion("unavailable")) for one in self.plan.unavailable]
        for target in self.plan.targets:
            if self._excluded(target, spent):
                continue
            self.ledger.dispatched += 1
            attempt = Attempt(
                self.call, target, self.active.policy, self.ledger.dispatched, self.clock(), until, self.clock
            )
            found = await attempt.open(self.upstreams)
            if isinstance(found, Opened):
                return found
            verdict = found.verdict
            self.failed(attempt, found)
            if verdict.reason == "local_limit":
                return outcome(self.ledger, late=True)
            if verdict.scope in ACCOUNT_SCOPES:
                spent.add(target.connection.id)
            final = self._final(verdict)
            if final is not None:
                return final
        return outcome(self.ledger)

    def failed(self, attempt: Attempt, decision: Decision) -> None:
        """Enter a failed attempt into the ledger and the state."""
        verdict, target = decision.verdict, attempt.target
        self.ledger.attempted.append(Attempted(target, verdict, said(decision.reading)))
        terminal = self.active.policy.terminals.get(verdict.terminal) if verdict.terminal else None
        change = self.locks.apply(
            verdict,
            target.identity,
            growth(self.active.policy, verdict, target.auth),
            started=attempt.started,
            now=self.clock(),
            draw=self.draw(),
            recheck=terminal.recheck if terminal is not None else None,
        )
        if change is not None:
            _line(self.call.id, change.after, self.clock())

    def succeeded(self, attempt: Attempt) -> None:
        """Enter a success into the state."""
        self.locks.success(attempt.target.keys, started=attempt.started, now=self.clock())

    def _excluded(self, target: Target, spent: set[str]) -> bool:
        """Whether a target may not be tried; the first refusal is kept as its reason."""
        now = self.clock()
        exclusion = self.locks.closed(target.keys, now)
        if exclusion is None and target.connection.id in spent:
            exclusion = Exclusion("connection_cooldown")
        if exclusion is None:
            return False
        left = exclusion.lock.left(now) if exclusion.lock is not None else None
        self.ledger.excluded.append(Excluded(target, exclusion, left))
        return True

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


def _line(id: str, lock: Lock | None, now: float) -> None:
    """One line for each lock that begins or grows."""
    if lock is not None and log.isEnabledFor(logging.INFO):
        left = "-" if lock.until is None else f"{lock.until - now:.1f}"
        log.info(
            "lock request=%s key=%s reason=%s rule=%s terminal=%s level=%d seconds=%s",
            *(id, lock.key, lock.reason, lock.rule or "-", lock.terminal or "-", lock.level, left),
        )
