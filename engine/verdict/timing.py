"""How long: what is waited, what the client is told, and which source either came from. Told and waited are one value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from faultwise import dsl
from faultwise.engine.failure.reading import Reading
from faultwise.engine.policy.model import Provider, Reason, Restatement, Rule, Terminal

TOLD = frozenset({"rule", "header", "rpc", "body", "prose", "restatement"})  # a reason's own wait is nobody's promise

Because = tuple[Any, ...]  # words, and what stands in them


class Timing(NamedTuple):
    """Waits in float seconds, None where there is none; `why` shows the arithmetic, for those who ask."""

    cooldown: float | None
    source: str | None
    retry_after: float | None
    stated: float | None
    stated_source: str | None
    because: Because
    cap: float | None = None  # where it cut the cooldown

    @property
    def why(self) -> str:
        """Where the cooldown comes from, in words."""
        words, *parts = self.because
        said = words.format(*(dsl.shown(part) if isinstance(part, float) else part for part in parts))
        return said if self.cap is None else f"{said}, capped at {dsl.shown(self.cap)}"


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
        return Timing(None, None, None, seconds, source, ("a request-scoped verdict locks nothing",))
    if terminal is not None and terminal.recheck is None:
        return Timing(None, None, None, seconds, source, ("terminal state {} does not end by itself", terminal.name))
    cooldown, origin, because = _first(reading, provider, rule, reason, restated, scope, profiles)
    cap = rule.cap if rule.cap is not None else caps.get("synthetic" if origin == "backoff" else origin)
    if cap is not None and cooldown > cap:
        cooldown = cap
    else:
        cap = None
    retry_after = cooldown if temporary and origin in TOLD else None
    return Timing(cooldown, origin, retry_after, seconds, source, because, cap)


def _first(
    reading: Reading,
    provider: Provider,
    rule: Rule,
    reason: Reason,
    restated: Restatement | None,
    scope: str,
    profiles: Mapping[str, Any],
) -> tuple[float, str, Because]:
    if rule.cooldown is not None and (value := rule.cooldown.seconds(reading)) is not None:
        return value, "rule", ("rule {}: {}", rule.id, rule.cooldown.source)
    stated = reading.stated
    if stated is not None:
        return stated.seconds, stated.source, ("stated by the upstream: {}", stated.where)
    if restated is not None and restated.retry_after is not None:
        value = restated.retry_after.seconds(reading)
        if value is not None:
            return value, "restatement", ("restatement {}: {}", restated.id, restated.retry_after.source)
    if reason.cooldown is not None and (value := reason.cooldown.seconds(reading)) is not None:
        return value, "reason", ("reason {}: {}", reason.name, reason.cooldown.source)
    profile = "model" if scope in ("model", "model_family") else profile_of(reading.auth or provider.auth)
    base: float = profiles[profile]["cooldown"]["base"]
    return base, "backoff", ("backoff of profile {}, level 0: {}", profile, base)


def profile_of(auth: str) -> str:
    """The threshold profile of a class of credential."""
    return _PROFILES.get(auth, "api_key")


_PROFILES = {"oauth": "oauth", "session": "oauth", "local": "local"}
