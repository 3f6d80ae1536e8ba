"""A state with a clock of its own, and verdicts written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from faultwise.engine.policy.policy import Policy
from faultwise.engine.state.lock import Identity, Lock
from faultwise.engine.state.outcome import Change, Outcome, View
from faultwise.engine.state.state import State
from faultwise.engine.state.thresholds import BreakerLimits, Thresholds
from faultwise.engine.verdict.verdict import Verdict

NOW = 1_000_000.0
WHO = Identity("acme", "relay", "m", "api.acme.example")
VERDICT = Verdict(
    id=None,
    provider="acme",
    connection="relay",
    model="m",
    phase="response",
    status=429,
    upstream_status=429,
    reason="rate_limit_exceeded",
    fault="account",
    scope="connection",
    lock_key="acme/relay",
    temporary=True,
    terminal=None,
    fallback=True,
    wait_ok=True,
    counts_for_breaker=False,
    proven=False,
    cooldown_s=3.0,
    cooldown_source="backoff",
    retry_after_s=None,
    stated_s=None,
    stated_source=None,
    rule="default-429",
    layer="default",
    restated_by=None,
    policy="sha256:0",
)


def verdict(**changes: Any) -> Verdict:
    return VERDICT._replace(**changes)


def stated(seconds: float, **changes: Any) -> Verdict:
    told = {"cooldown_s": seconds, "cooldown_source": "header", "retry_after_s": seconds, "stated_s": seconds}
    return verdict(**{**told, **changes})


def banned() -> Verdict:
    return verdict(reason="account_banned", temporary=False, terminal="banned", cooldown_s=None, cooldown_source=None)


def broke() -> Verdict:
    return verdict(
        reason="credits_exhausted",
        status=402,
        upstream_status=402,
        temporary=False,
        terminal="credits_exhausted",
        cooldown_s=1800.0,
        cooldown_source="reason",
        wait_ok=False,
    )


def refused(reason: str = "request_rejected", status: int = 403) -> Verdict:
    cooldown = {"request_rejected": 300.0, "auth_error": 120.0}[reason]
    return verdict(
        reason=reason,
        status=status,
        upstream_status=status,
        temporary=reason == "request_rejected",
        cooldown_s=cooldown,
        cooldown_source="reason",
        wait_ok=False,
    )


def fault(reason: str = "server_error", **changes: Any) -> Verdict:
    base = {
        "reason": reason,
        "fault": "provider",
        "scope": "provider",
        "status": 502,
        "upstream_status": 500,
        "counts_for_breaker": True,
        "rule": "default-500",
    }
    return verdict(**{**base, **changes})


def network() -> Verdict:
    return fault("network_error", fault="network", scope="host", upstream_status=None, phase="transport")


@dataclass
class World:
    policy: Policy
    state: State = field(default_factory=State)
    now: float = NOW
    limits: Thresholds = Thresholds("api_key", BreakerLimits(opens_at=12, degraded_at=7, grows_after=3, grows_to=4))

    def fail(
        self, one: Verdict, who: Identity = WHO, *, started: float | None = None, draw: float = 0.999999, **more: Any
    ) -> tuple[Change, ...]:
        return self.state.report(
            Outcome(
                identity=who,
                limits=self.limits,
                started=self.now if started is None else started,
                now=self.now,
                draw=draw,
                policy=self.policy,
                verdict=one,
                **more,
            )
        )

    def ok(self, who: Identity = WHO, *, started: float | None = None, **more: Any) -> tuple[Change, ...]:
        began = self.now if started is None else started
        return self.state.report(Outcome(who, self.limits, began, self.now, ok=True, **more))

    def view(self, who: Identity = WHO) -> View:
        return self.state.view(who, self.limits, self.now)

    def word(self, who: Identity = WHO) -> str | None:
        """Why a target is not tried; `trial` where one request may."""
        found = self.view(who)
        if found.exclusion is not None:
            return found.exclusion.word
        return "trial" if found.trials else None

    def tick(self, seconds: float) -> None:
        self.now += seconds

    def locks(self) -> Iterator[Lock]:
        self.state.sync()
        return iter(self.state.locks)

    def lock(self, key: str = "acme/relay") -> Lock:
        self.state.sync()
        return self.state.locks.table.rows[key]

    def length(self, key: str = "acme/relay") -> float:
        one = self.lock(key)
        assert one.until is not None
        return round(one.until - one.since, 3)

    def circuit(self, who: Identity = WHO) -> str:
        """The state of a circuit as it is now."""
        found = self.state.circuits.current(who.circuit, self.limits.breaker, self.now)
        return "CLOSED" if found is None else found.state
