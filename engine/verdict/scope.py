"""The smallest thing whose lock stops futile calls and hurts no good ones."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

from faultwise.engine.failure.reading import Reading
from faultwise.engine.policy.model import Allowlists, Provider, Reason, Rule

OUR_FAULTS = frozenset({"caller", "gateway", "policy"})  # nothing upstream is wrong, so nothing upstream is locked


class Scoped(NamedTuple):
    """A scope, the key under which its lock is kept, and where the decision came from."""

    name: str
    key: str | None
    why: str


def scope(reading: Reading, provider: Provider, rule: Rule, reason: Reason, allowlists: Allowlists) -> Scoped:
    """The scope of a verdict: the rule's `lock` where it binds, else the reason's, narrowed by the guards."""
    name, why = _declared(provider, rule, reason, allowlists)
    if name == "quota_unit":
        name, why = _unit(provider, why)
    fault = rule.fault or reason.fault
    if fault in OUR_FAULTS and name != "request":
        name, why = "request", f"a fault of the {fault} locks nothing"
    family = None
    if name == "model" and reason.quota:
        family = _family(provider, reading.model)
        if family:
            name, why = "model_family", f"{why}, widened to family {family}"
    return Scoped(name, _key(name, reading, provider, family), why)


def _unit(provider: Provider, why: str) -> tuple[str, str]:
    """What a provider's quotas count; behind one egress, the state widens the lock to its siblings."""
    why = f"{why}, the unit of {provider.name or 'the provider'}"
    if provider.quota_unit == "egress":
        return "connection", f"{why}, which counts by egress: the state widens it"
    return provider.quota_unit, why


def binds(rule: Rule, provider: Provider, allowlists: Allowlists) -> bool:
    """Whether a rule's `lock` decides: always but for shipped provider rules of a provider off the allowlist."""
    if rule.layer != "shipped-provider":
        return True
    allowed = allowlists.lock_scope
    return provider.name in allowed or rule.provider in allowed or "*" in allowed


def _declared(provider: Provider, rule: Rule, reason: Reason, allowlists: Allowlists) -> tuple[str, str]:
    if rule.lock is None:
        return reason.lock, f"reason {reason.name}"
    if binds(rule, provider, allowlists):
        return rule.lock, f"rule {rule.id}"
    return reason.lock, f"reason {reason.name} (the rule's lock is informational: provider off `lock_scope`)"


def _family(provider: Provider, model: str | None) -> str | None:
    if model is None:
        return None
    for family, patterns in provider.families.items():
        if any(fnmatchcase(model, pattern) for pattern in patterns):
            return family
    return None


def _key(name: str, reading: Reading, provider: Provider, family: str | None) -> str | None:
    """`provider/connection/model` and the like; `-` stands for what is not known."""
    account = f"{provider.name or '-'}/{reading.connection or '-'}"
    at = f"@{reading.host}" if reading.host else ""
    match name:
        case "model":
            return f"{account}/{reading.model or '-'}"
        case "model_family":
            return f"{account}/family:{family}"
        case "connection":
            return account
        case "egress":
            return f"egress:{reading.egress or '-'}{at}"
        case "provider" | "host":
            return f"{provider.name or '-'}{at}"
    return None
