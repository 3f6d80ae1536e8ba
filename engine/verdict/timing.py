"""How long: what is waited, what the client is told, and which source either came from. Told and waited are one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from faultwise.engine.failure.reading import Reading
from faultwise.engine.policy.model import Provider, Reason, Restatement, Rule, Terminal

TOLD = frozenset({"rule", "header", "rpc", "body", "prose", "restatement"})  # a reason's own wait is nobody's promise


@dataclass(frozen=True, slots=True)
class Timing:
    """Waits in float seconds, None where there is none; `why` shows the arithmetic."""

    cooldown: float | None
    source: str | None
    retry_after: float | None
    stated: float | None
    stated_source: str | None
    why: str


def timing(
    reading: Reading,
    provider: Provider,
    rule: Rule,
    reason: Reason,
    restated: Restatement | None,
    scope: str,
    temporary: bool,
    terminal: Terminal | None,
    caps: Mapping[str, float],
    profiles: Mapping[str, Any],
) -> Timing:
    """The first of: rule, stated, restatement, reason, backoff at level 0; capped by its source."""
    stated = reading.stated
    seconds = stated.seconds if stated else None
    source = stated.source if stated else None
    if scope == "request":
        return Timing(None, None, None, seconds, source, "a request-scoped verdict locks nothing")
    if terminal is not None and terminal.recheck is None:
        return Timing(None, None, None, seconds, source, f"terminal state {terminal.name} does not end by itself")
    cooldown, origin, why = _first(reading, provider, rule, reason, restated, scope, profiles)
    cap = rule.cap if rule.cap is not None else caps.get("synthetic" if origin == "backoff" else origin)
    if cap is not None and cooldown > cap:
        cooldown, why = cap, f"{why}, capped at {cap:g} s"
    retry_after = cooldown if temporary and origin in TOLD else None
    return Timing(cooldown, origin, retry_after, seconds, source, why)


def _first(
    reading: Reading,
    provider: Provider,
    rule: Rule,
    reason: Reason,
    restated: Restatement | None,
    scope: str,
    profiles: Mapping[str, Any],
) -> tuple[float, str, str]:
    if rule.cooldown is not None and (value := rule.cooldown.seconds(reading)) is not None:
        return value, "rule", f"rule {rule.id}: {rule.cooldown.source}"
    stated = reading.stated
    if stated is not None:
        return stated.seconds, stated.source, f"stated by the upstream: {stated.where}"
    if restated is not None and restated.retry_after is not None:
        value = restated.retry_after.seconds(reading)
        if value is not None:
            return value, "restatement", f"restatement {restated.id}: {restated.retry_after.source}"
    if reason.cooldown is not None and (value := reason.cooldown.seconds(reading)) is not None:
        return value, "reason", f"reason {reason.name}: {reason.cooldown.source}"
    base, of = _base(reading, provider, scope, profiles)
    return base, "backoff", f"backoff of {of}, level 0: {base:g} s"


def _base(reading: Reading, provider: Provider, scope: str, profiles: Mapping[str, Any]) -> tuple[float, str]:
    profile = "model" if scope in ("model", "model_family") else profile_of(reading.auth or provider.auth)
    base: float = profiles[profile]["cooldown"]["base"]
    return base, f"profile {profile}"


def profile_of(auth: str) -> str:
    """The threshold profile of a class of credential."""
    return {"oauth": "oauth", "session": "oauth", "local": "local"}.get(auth, "api_key")
