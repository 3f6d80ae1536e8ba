"""FW102: a shipped provider rule whose `lock` does not bind."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW102"


def check(written: Catalogue) -> Iterator[Problem]:
    """Off `lock_scope`, the reason's scope applies, whatever the rule says."""
    allowed = written.policy.allowlists.lock_scope
    for rule in written.rules:
        if rule.restates or rule.layer != "shipped-provider" or "lock" not in rule.data:
            continue
        names = {"*", str(rule.provider), str(rule.entry.parsed.data["provider"]).lower()}
        scope = written.reason(rule).lock
        if scope == "quota_unit":
            scope = written.policy.provider(str(rule.provider)).quota_unit
        if names.isdisjoint(allowed) and rule.data["lock"] != scope:
            message = f"`lock: {rule.data['lock']}` is informational: what is locked is the reason's `{scope}`"
            hint = f"add `{rule.provider}` to `allowlists.lock_scope`, or leave `lock` out"
            yield rule.warning(("lock",), CODE, message, hint)
