"""FW109: a rule that no case makes fire, or that has no near miss."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.cases import run_cases
from faultwise.engine.client_cases import tell
from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW109"


def check(written: Catalogue) -> Iterator[Problem]:
    """A rule without a case is a guess; one without a near miss may be true of everything."""
    fired: set[str | None] = set()
    failing: set[str | None] = set()
    missed: set[str] = set()
    for case, result in zip(written.policy.cases, run_cases(written.policy), strict=True):
        by = {result.verdict.rule, result.verdict.restated_by} if result.verdict is not None else set()
        if not result.ok:
            failing |= by  # it shows nothing: neither that a rule fires as it should, nor that it does not
            continue
        fired |= by
        named = case.data["expect"].get("not_rule", ())
        missed.update([named] if isinstance(named, str) else named)
    for rule in written.rules:
        if rule.data.get("mode") == "shadow":
            continue
        if rule.id not in fired:
            hint = f"add a case with `expect: {{{'restated_by' if rule.restates else 'rule'}: {rule.id}}}`"
            message = f"no case makes `{rule.id}` fire"
            if rule.id in failing:
                message, hint = f"only a case that fails makes `{rule.id}` fire", "`faultwise test` says what is wrong"
            yield rule.warning(("id",), CODE, message, hint)
        if rule.id not in missed:
            hint = f"add a failure that is nearly the same, with `expect: {{not_rule: {rule.id}}}`"
            yield rule.warning(("id",), CODE, f"`{rule.id}` has no near miss", hint)
    told = {tell(written.policy, case).restated_by for case in written.policy.client_cases}
    for one in (restatement for client in written.policy.clients for restatement in client.restatements):
        if one.id not in told:
            place = one.origin.file, one.origin.line, one.origin.column
            hint = f"add a case with `expect: {{restated_by: {one.id}}}`"
            yield Problem(*place, CODE, f"no case makes `{one.id}` fire", hint, "warning")
