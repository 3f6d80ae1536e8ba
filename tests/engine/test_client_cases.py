"""Cases of client profiles run like those of rules, and say what is wrong."""

from __future__ import annotations

from collections.abc import Callable

from faultwise.engine.cases import CaseResult
from faultwise.engine.client_cases import run_client_cases
from faultwise.engine.lint import lint
from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources

FILE = """\
faultwise: 1
kind: clients
clients:
  - {id: acme, when: 'header["x-acme"] == "b"', restatements: [{id: acme-limit, from: 429, retry_after: 10s}]}
cases:
  - {name: c, headers: {x-acme: [b, c], x-n: 1}, wire: openai, endpoint: chat, verdict: VERDICT, expect: EXPECT}
"""
VERDICT = "{status: 429, reason: quota_exhausted, retry_after: 1h}"


def run(over: Callable[..., Policy], expect: str, verdict: str = VERDICT) -> CaseResult:
    text = FILE.replace("VERDICT", verdict).replace("EXPECT", expect)
    (result,) = run_client_cases(over({"c.yaml": text}, shipped=False))
    return result


def test_every_shipped_case_holds(shipped: Policy) -> None:
    results = run_client_cases(shipped)
    assert len(results) >= 10
    assert [str(result.problem) for result in results if not result.ok] == []


def test_every_shipped_restatement_has_a_case(shipped: Policy) -> None:
    expected = {case.data["expect"].get("restated_by") for case in shipped.client_cases}
    assert {one.id for client in shipped.clients for one in client.restatements} <= expected


def test_a_case_that_holds(over: Callable[..., Policy]) -> None:
    expect = "{client: acme, status: 429, retry_after: 10s, headers: {X-Faultwise-Retry-After: '3600'}, hint: null}"
    result = run(over, expect)
    assert result.ok and result.verdict is None


def test_a_case_that_fails_says_everything_that_differs(over: Callable[..., Policy]) -> None:
    result = run(over, "{status: 503, retry_after: 1h, headers: {x-should-retry: 'false'}}")
    assert result.problem is not None
    assert (result.file, result.line) == ("c.yaml", 6)
    assert result.problem.code == "FW030"
    assert "expected status `503`, got `429`; expected retry_after 3600 s, got 10 s" in result.problem.message
    assert "expected header x-should-retry `false`, got nothing" in result.problem.message
    assert result.problem.hint == "client acme, restatement acme-limit"


def test_a_case_that_nothing_restates_says_so(over: Callable[..., Policy]) -> None:
    result = run(over, "{restated_by: acme-limit}", "{status: 503, reason: overloaded}")
    assert result.problem is not None and result.problem.hint == "client acme, no restatement"


def test_the_linter_wants_a_reason_and_a_case(lay: Callable[..., Sources]) -> None:
    sources = lay({"c.yaml": FILE[: FILE.index("cases:")]}, shipped=False)
    found = [str(problem) for problem in lint(sources, load(sources), 0.0) if problem.file == "c.yaml"]
    assert [line.split(" ", 1)[1].split("\n")[0] for line in found] == [
        "FW114 warning: `acme` does not say why",
        "FW109 warning: no case makes `acme-limit` fire",
        "FW114 warning: `acme-limit` does not say why",
    ]
