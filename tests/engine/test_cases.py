"""Cases beside rules: what passes, what fails, and what it says."""

from __future__ import annotations

from collections.abc import Callable

from faultwise.engine.cases import CaseResult, run_cases
from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import collect

HEAD = "faultwise: 1\nkind: provider\nprovider: acme\n"
RULE = "rules:\n  - {id: a, status: [403], any: [gone], reason: quota_exhausted, cooldown: 5m}\n"


def run(over: Callable[..., Policy], case: str) -> CaseResult:
    results = run_cases(over({"acme.yaml": HEAD + RULE + f"cases:\n  - {case}\n"}))
    return next(result for result in results if result.file == "acme.yaml")


def test_a_case_that_holds_passes(over: Callable[..., Policy]) -> None:
    case = "{name: c, status: 403, body: gone, expect: {reason: quota_exhausted, cooldown: 5m, rule: a, not_rule: b}}"
    assert run(over, case).ok


def test_a_failed_case_says_what_was_expected_and_which_rule_decided(over: Callable[..., Policy]) -> None:
    result = run(
        over, "{name: c, status: 403, body: gone, expect: {reason: auth_error, cooldown: 6m, terminal: banned}}"
    )
    assert result.problem is not None
    assert str(result.problem) == (
        f"acme.yaml:7:{result.problem.column}: FW030 case `c`: expected reason `auth_error`, got `quota_exhausted`;"
        " expected cooldown 360 s, got 300 s; expected terminal `banned`, got nothing\n    help: rule a decided"
    )


def test_a_near_miss_fails_when_its_rule_fires(over: Callable[..., Policy]) -> None:
    result = run(over, "{name: c, status: 403, body: gone, expect: {not_rule: [a, b]}}")
    assert result.problem is not None and "expected a not to fire" in result.problem.message


def test_every_shipped_case_passes() -> None:
    failed = [str(result.problem) for result in run_cases(load(collect(cases=True))) if not result.ok]
    assert not failed, "\n".join(failed)
