"""Which targets one request leaves out because of what it has met itself, whether or not that locked them for others."""

from __future__ import annotations

from dataclasses import dataclass, field

from faultwise.engine.state.lock import Exclusion
from faultwise.engine.verdict.verdict import Verdict

from .target import Target

SIBLINGS = 2  # accounts of a provider still tried after one of them met a bare limit
ACCOUNT_SCOPES = ("connection", "egress")


@dataclass(slots=True)
class Rotation:
    """One round of a request through its targets."""

    spent: set[str] = field(default_factory=set)  # accounts that refused
    proven: set[tuple[str, str]] = field(default_factory=set)  # scopes with a limit that is proven, and their keys
    bursts: dict[str, set[str]] = field(default_factory=dict)  # accounts that met a bare limit, by provider and host

    def refused(self, target: Target, verdict: Verdict) -> bool:
        """Note a refusal; whether it is the last of a burst that the request puts up with."""
        if verdict.scope in ACCOUNT_SCOPES:
            self.spent.add(target.account)
        if verdict.proven:
            self.proven.add((verdict.scope, target.identity.key(verdict.scope)))
        if not _bare(verdict):
            return False
        met = self.bursts.setdefault(target.identity.circuit, set())
        met.add(target.account)
        return len(met) == SIBLINGS + 1

    def over(self, target: Target) -> Exclusion | None:
        """Why a target is left out; None: it is not."""
        if target.account in self.spent:
            return Exclusion("connection_cooldown")
        if any(target.identity.key(scope) == key for scope, key in self.proven):
            return Exclusion("connection_cooldown")
        if len(self.bursts.get(target.identity.circuit, ())) > SIBLINGS:
            return Exclusion("provider_cooldown")
        return None


def _bare(verdict: Verdict) -> bool:
    """A 429 without a word about why or how long."""
    return verdict.status == 429 and verdict.temporary and verdict.fault == "account" and not verdict.proven
