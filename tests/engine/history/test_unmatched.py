"""Failures no rule knows, and the rules to begin with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise.engine.cases import run_cases
from faultwise.engine.failure.intake import intake
from faultwise.engine.history import unmatched
from faultwise.engine.history.starter import starters
from faultwise.engine.history.unmatched import Unmatched, normal
from faultwise.engine.lint import lint
from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.verdict.decide import conclude


def gathered(policy: Policy, *rows: dict) -> Unmatched:
    found = Unmatched()
    for number, row in enumerate(rows, 1):
        found.note(conclude(policy, intake({"provider": "NewOne", **row}, 0.0)), number)
    return found


def error(message: str, status: int = 403, **more: object) -> dict:
    return {"status": status, "body": {"error": {"message": message, **more}}}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Limit 12 of 3.5 reached", "limit <n> of <n> reached"),
        ("see https://a.b/c?d=1 now", "see <url> now"),
        ("for jo.doe@example.org", "for <mail>"),
        ("request req_8Zk3x failed", "request <id> failed"),
        ("id 123e4567-e89b-42d3-a456-426614174000", "id <id>"),
        ("digest 9f86d081884c7d659a2feaa0c55ad015", "digest <id>"),
        ("Ｆｕｌｌ  width", "full width"),
        ("x" * 1000, "x" * 200),
    ],
)
def test_what_differs_from_one_failure_to_the_next_is_left_out(message: str, kind: str) -> None:
    assert normal(message) == kind


def test_failures_of_one_kind_are_one_group(over: Callable[..., Policy]) -> None:
    found = gathered(
        over({}), error("zork 1 full"), error("zork 22 full"), error("other"), error("zork 1 full", code="c")
    )
    assert [(look.message, look.code, count) for look, count in found.ranked(2)] == [("zork <n> full", (), 2)]
    assert (found.failures, len(found.counts)) == (4, 3)
    assert found.first[found.ranked()[0][0]] == 1


def test_what_a_rule_knows_and_what_never_answered_is_not_there(over: Callable[..., Policy]) -> None:
    quota = {"provider": "agentrouter", **error("额度不足")}
    assert not gathered(over({}), quota, {"kind": "refused"}, {"kind": "client_gone"}, {"status": 200}).counts


def test_parts_add_up_and_groups_are_bounded(over: Callable[..., Policy], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unmatched, "GROUPS", 1)
    part = gathered(over({}), error("alpha"), error("beta"), error("alpha"))
    whole = Unmatched()
    whole.add(part)
    whole.add(part)
    assert (whole.failures, whole.overflow, sum(whole.counts.values())) == (6, 2, 4)


def test_starters_load_fire_and_miss_as_they_are(over: Callable[..., Policy], lay: Callable[..., Sources]) -> None:
    found = gathered(
        over({}),
        error('Plan limit 3 "reached"', code="plan_limit"),
        error("zork quantum drained: 5", 400),
        error("zork quantum drained and more", 400, code="zork-quantum-drained"),
        error("x", 422, type="odd_type"),
        {"status": 500},
        {"status": 418},
        {"status": 502, "headers": {"content-type": "text/html"}, "body": "<title>Gateway tea break</title>"},
    )
    text = starters(found.ranked())
    sources = lay({"newone.yaml": text})
    policy = load(sources)
    own = [result for result in run_cases(policy) if result.file == "newone.yaml"]
    assert len(own) == 14
    assert [str(result.problem) for result in own if not result.ok] == []
    errors = [problem for problem in lint(sources, policy, 0.0) if problem.file == "newone.yaml"]
    assert {problem.code for problem in errors} <= {"FW105"}
    assert 'when: "code == \\"plan_limit\\""' in text and 'any: ["zork quantum drained"]' in text
    assert 'when: "type == \\"odd_type\\""' in text


def test_each_provider_is_a_document_and_nobody_is_example(over: Callable[..., Policy]) -> None:
    found = gathered(over({}), {"provider": "", **error("some words")}, error("some words"))
    documents = starters(found.ranked()).split("---\n")
    assert ["provider: " in document for document in documents] == [True, True]
    assert any('provider: "example"' in document for document in documents)
