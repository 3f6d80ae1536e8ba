"""A case that says several failures at once comes to one for each text and each status."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise.engine.cases import CaseResult, run_cases
from faultwise.engine.policy.policy import Policy
from faultwise.engine.problem import PolicyError

RULES = """\
faultwise: 1
kind: provider
provider: acme
rules:
  - {id: a, status: [403, 429], any: [gone, spent], reason: quota_exhausted}
  - {id: b, status: [403], when: 'code == "17" or json["error.more"] == 9', reason: auth_error}
cases:
"""


def run(over: Callable[..., Policy], case: str) -> tuple[CaseResult, ...]:
    results = run_cases(over({"acme.yaml": RULES + case}, shipped=False))
    return tuple(result for result in results if result.file == "acme.yaml")


def test_a_case_fails_at_the_line_of_the_text_it_fails_with(over: Callable[..., Policy]) -> None:
    case = "  - name: used up\n    status: 403\n    each:\n      - gone\n      - here\n    expect: {rule: a}\n"
    one, other = run(over, case)
    assert one.ok and one.name == "used up [gone]" and one.line == 11
    assert other.problem is not None
    assert str(other.problem).startswith("acme.yaml:12:9: FW030 case `used up [here]`: expected rule `a`")


def test_a_case_fails_at_the_status_it_fails_with(over: Callable[..., Policy]) -> None:
    case = "  - name: used up\n    status: [403, 500]\n    body: {error: {message: gone}}\n    expect: {rule: a}\n"
    one, other = run(over, case)
    assert one.ok and one.name == "used up [403]"
    assert str(other.problem).startswith("acme.yaml:9:19: FW030 case `used up [500]`")


def test_each_text_is_run_under_each_status(over: Callable[..., Policy]) -> None:
    results = run(over, "  - {name: c, status: [403, 429], each: [gone, spent], expect: {rule: a}}\n")
    assert [result.name for result in results] == ["c [403, gone]", "c [429, gone]", "c [403, spent]", "c [429, spent]"]
    assert all(result.ok for result in results)


@pytest.mark.parametrize(
    "body",
    ["", ", body: {error: {message: $each}}", ", body: $each", ", body: 'the credit is $each today'"],
)
def test_a_text_stands_where_the_case_says_and_is_the_message_where_it_says_nothing(
    body: str, over: Callable[..., Policy]
) -> None:
    results = run(over, f"  - {{name: c, status: 403, each: [gone, spent]{body}, expect: {{rule: a}}}}\n")
    assert [result.problem for result in results] == [None, None]


def test_a_text_stands_in_headers_and_in_streams(over: Callable[..., Policy]) -> None:
    stream = 'data: {\\"error\\": {\\"message\\": \\"$each\\", \\"code\\": 429}}\\n\\n'
    case = f'  - {{name: c, stream: sse-first, each: [gone], body: "{stream}", expect: {{rule: a}}}}\n'
    case += "  - {name: d, status: 429, each: [9, 11], headers: {retry-after: $each}, expect: {reason: rate_limit_exceeded}}\n"
    assert all(result.ok for result in run(over, case))


def test_what_is_no_text_stands_as_it_is_and_within_others_as_json(over: Callable[..., Policy]) -> None:
    case = "  - {name: c, status: 403, each: [9], body: {error: {message: no, more: $each}}, expect: {rule: b}}\n"
    case += "  - {name: d, status: 403, each: [{code: 17}], body: {error: $each}, expect: {rule: b}}\n"
    case += '  - {name: e, status: 403, each: [17], body: \'{"error": {"code": $each}}\', expect: {rule: b}}\n'
    results = run(over, case)
    assert [result.problem for result in results] == [None, None, None]
    assert [result.name for result in results] == ["c [9]", 'd [{"code": 17}]', "e [17]"]


def test_a_long_text_is_cut_in_the_name(over: Callable[..., Policy]) -> None:
    (result,) = run(over, f"  - {{name: c, status: 403, each: [gone {'x' * 80}], expect: {{rule: a}}}}\n")
    assert result.name == f"c [gone {'x' * 54}…]"


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (
            "{name: c, status: 403, each: [gone], body: {error: {message: x}}, expect: {rule: a}}",
            "acme.yaml:8:34: FW011 no value of the case says `$each`",
        ),
        ("{name: c, status: 403, each: [], expect: {rule: a}}", "acme.yaml:8:34: FW011 must not be empty"),
        (
            "{name: c, status: 403, each: gone, expect: {rule: a}}",
            "acme.yaml:8:34: FW011 expected a list, found the text `gone`",
        ),
        ("{name: c, status: [403, 42], expect: {rule: a}}", "acme.yaml:8:29: FW011 `42` is not within 100 to 599"),
    ],
)
def test_what_cannot_be_meant_is_told(case: str, told: str, over: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError) as caught:
        over({"acme.yaml": RULES + f"  - {case}\n"}, shipped=False)
    assert str(caught.value).startswith(told), str(caught.value)
