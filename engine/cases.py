"""The cases written beside rules: a failure, and what its verdict must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from faultwise import dsl

from .failure.intake import instant, intake
from .policy.parsed import Entry
from .policy.policy import Policy
from .problem import Problem
from .verdict.decide import decide
from .verdict.verdict import Verdict

NOW = instant("2026-01-01T00:00:00Z")  # what time it is in a case that does not say
DURATIONS = {"cooldown": "cooldown_s", "retry_after": "retry_after_s", "stated": "stated_s"}
NOT_FAILURE = frozenset({"name", "expect"})


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case that ran. `problem` says where and how it failed."""

    name: str
    file: str
    line: int
    verdict: Verdict | None
    problem: Problem | None

    @property
    def ok(self) -> bool:
        """Whether everything was as expected."""
        return self.problem is None


def run_cases(policy: Policy) -> tuple[CaseResult, ...]:
    """Run every case of a policy against it."""
    return tuple(run_case(policy, case) for case in policy.cases)


def run_case(policy: Policy, case: Entry) -> CaseResult:
    """Run one case."""
    try:
        failure = intake(row(case), NOW)
    except ValueError as error:
        name = str(case.data["name"])
        unreadable = case.problem((), "FW031", f"case `{name}` is not a failure: {error}")
        return CaseResult(name, case.parsed.name, case.origin.line, None, unreadable)
    return judged(case, decide(policy, failure))


def judged(case: Entry, verdict: Verdict) -> CaseResult:
    """What a case makes of a verdict."""
    name = str(case.data["name"])
    wrong = tuple(_differences(case.data["expect"], verdict))
    problem = None
    if wrong:
        problem = case.problem(
            ("expect",), "FW030", f"case `{name}`: " + "; ".join(wrong), f"rule {verdict.rule} decided"
        )
    return CaseResult(name, case.parsed.name, case.origin.line, verdict, problem)


def row(case: Entry) -> dict[str, Any]:
    """The failure of a case in the form `intake` reads; a provider file's cases are that provider's."""
    own = {key: value for key, value in case.data.items() if key not in NOT_FAILURE}
    own.setdefault("provider", case.parsed.data.get("provider", "example"))
    if "kind" not in own and "status" not in own and "stream" in own:
        own["status"] = 200
    return own


def _differences(expect: Mapping[str, Any], verdict: Verdict) -> Iterator[str]:
    for key, wanted in expect.items():
        if key == "not_rule":
            fired = {verdict.rule, verdict.restated_by}.intersection([wanted] if isinstance(wanted, str) else wanted)
            if fired:
                yield f"expected {', '.join(sorted(map(str, fired)))} not to fire"
            continue
        yield from mismatch(key, getattr(verdict, DURATIONS.get(key, key)), wanted)


def mismatch(key: str, got: Any, wanted: Any) -> Iterator[str]:
    """What is wrong with one value, where it is not the one a case expects; waits are written as durations."""
    if isinstance(wanted, str) and key in DURATIONS:
        wanted = dsl.duration(wanted)
    if not _same(got, wanted):
        yield f"expected {key} {_shown(wanted)}, got {_shown(got)}"


def _same(got: Any, wanted: Any) -> bool:
    if isinstance(got, float) and isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return abs(got - wanted) < 0.001
    return type(got) is type(wanted) and bool(got == wanted)


def _shown(value: Any) -> str:
    return "nothing" if value is None else dsl.shown(value) if isinstance(value, float) else f"`{value}`"
