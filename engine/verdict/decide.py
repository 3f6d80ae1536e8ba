"""The order of the stages, and nothing more: read, restate, classify, scope, time, verdict.

    Failure -> Reading -> restate -> classify -> scope -> terminal -> timing -> Verdict

A decision keeps what each stage found, so that an explanation shows the very values the verdict was made of.
"""

from __future__ import annotations

from typing import NamedTuple

from faultwise.engine.failure.reading import Reading, read
from faultwise.engine.failure.record import Failure
from faultwise.engine.policy.model import Provider, Reason, Restatement, Rule
from faultwise.engine.policy.policy import Policy

from .scope import Scoped, scope
from .terminal import terminal
from .timing import Timing, timing
from .verdict import Verdict

UPSTREAM_FAULTS = frozenset({"provider", "network"})
TRIP_STATUSES = frozenset({408, 500, 502, 503, 504})  # these count for a breaker whatever the reason's row says


class Decision(NamedTuple):
    """What each stage found, and the verdict. The parts are None for a response that is fine."""

    verdict: Verdict
    before: Reading  # as it came
    reading: Reading  # restated, where a restatement fired
    provider: Provider
    restated: Restatement | None = None
    rule: Rule | None = None
    reason: Reason | None = None
    scoped: Scoped | None = None
    timing: Timing | None = None
    terminal_why: str = ""


def decide(policy: Policy, failure: Failure) -> Verdict:
    """The verdict on a failure. Deterministic: the same failure, policy and `now` give the same verdict."""
    return conclude(policy, failure).verdict


def conclude(policy: Policy, failure: Failure) -> Decision:
    """The verdict and what led to it."""
    provider = policy.provider(failure.provider)
    before = read(failure, policy.envelopes, provider)
    if not before.is_error:
        return Decision(_fine(before, failure, policy.digest), before, before, provider)
    restated, reading = restate(policy, provider, before)
    rule = classify(policy, provider, reading)
    reason = policy.reasons[rule.reason]
    temporary = reason.temporary if rule.temporary is None else rule.temporary
    fault = rule.fault or reason.fault
    scoped = scope(reading, provider, rule, reason, policy.allowlists)
    auth = reading.auth or provider.auth
    state, why = terminal(reading, rule, reason, scoped.name, temporary, auth, policy.terminals)
    times = timing(
        reading, provider, rule, reason, restated, scoped.name, temporary, state, policy.caps, policy.profiles
    )
    verdict = Verdict(
        id=failure.id,
        provider=failure.provider,
        connection=failure.connection,
        model=failure.model,
        phase=reading.phase,
        status=_told(reading, rule, reason, restated),
        upstream_status=reading.upstream_status,
        reason=reason.name,
        fault=fault,
        scope=scoped.name,
        lock_key=scoped.key,
        temporary=temporary,
        terminal=state.name if state else None,
        fallback=reason.fallback if rule.fallback is None else rule.fallback,
        wait_ok=reason.wait_ok if rule.wait_ok is None else rule.wait_ok,
        counts_for_breaker=_counts(reading, reason, fault, scoped.name),
        proven=fault == "account"
        and temporary
        and reason.quota
        and (times.stated is not None or rule.layer != "default"),
        cooldown_s=times.cooldown,
        cooldown_source=times.source,
        retry_after_s=times.retry_after,
        stated_s=times.stated,
        stated_source=times.stated_source,
        rule=rule.id,
        layer=rule.layer,
        restated_by=restated.id if restated else None,
        policy=policy.digest,
    )
    return Decision(verdict, before, reading, provider, restated, rule, reason, scoped, times, why)


def restate(policy: Policy, provider: Provider, reading: Reading) -> tuple[Restatement | None, Reading]:
    """The first restatement that matches, and the reading under the status it puts right."""
    if reading.phase == "local" or not provider.restatements:
        return None, reading
    found = policy.restatements(provider, reading.key).first(reading)
    return (None, reading) if found is None else (found, reading.at(found.to))


def classify(policy: Policy, provider: Provider, reading: Reading) -> Rule:
    """The first rule that matches, layer by layer; what is local is known by its kind and never by its text."""
    if reading.phase != "local":
        found = policy.rules(provider, reading.key).first(reading)
        if found is not None:
            return found
    return policy.default(reading.key)


def _told(reading: Reading, rule: Rule, reason: Reason, restated: Restatement | None) -> int:
    if rule.status is not None:
        return rule.status
    if restated is not None:
        return restated.to
    return reading.status if reading.status is not None and reading.status in reason.accepts else reason.status


def _counts(reading: Reading, reason: Reason, fault: str, scope_name: str) -> bool:
    """Whether the provider's breaker counts it: never account, caller or local failures, nor those of one model."""
    if fault not in UPSTREAM_FAULTS or scope_name in ("request", "model", "model_family"):
        return False
    return reason.breaker or reading.upstream_status in TRIP_STATUSES


def _fine(reading: Reading, failure: Failure, digest: str) -> Verdict:
    return Verdict(
        id=failure.id,
        provider=failure.provider,
        connection=failure.connection,
        model=failure.model,
        phase=reading.phase,
        status=reading.upstream_status,
        upstream_status=reading.upstream_status,
        reason="not_an_error",
        fault=None,
        scope="request",
        lock_key=None,
        temporary=False,
        terminal=None,
        fallback=False,
        wait_ok=False,
        counts_for_breaker=False,
        proven=False,
        cooldown_s=None,
        cooldown_source=None,
        retry_after_s=None,
        stated_s=None,
        stated_source=None,
        rule=None,
        layer=None,
        restated_by=None,
        policy=digest,
    )
