"""The cases written beside client profiles: a request, what happened to it, and what its client must be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from faultwise import dsl

from .cases import CaseResult, mismatch
from .failure.record import Headers
from .policy.client import Caller, Truth
from .policy.parsed import Entry
from .policy.policy import Policy
from .verdict.told import Told, told


def run_client_cases(policy: Policy) -> tuple[CaseResult, ...]:
    """Run every case of a policy's `kind: clients` files against it."""
    return tuple(run_client_case(policy, case) for case in policy.client_cases)


def run_client_case(policy: Policy, case: Entry) -> CaseResult:
    """Run one case. Its result has no verdict: what happened is given."""
    name = str(case.data["name"])
    found = tell(policy, case)
    wrong = tuple(_differences(case.data["expect"], found))
    problem = None
    if wrong:
        by = f"restatement {found.restated_by}" if found.restated_by else "no restatement"
        message = f"case `{name}`: {'; '.join(wrong)}"
        problem = case.problem(("expect",), "FW030", message, f"client {found.client}, {by}")
    return CaseResult(name, case.parsed.name, case.origin.line, None, problem)


def tell(policy: Policy, case: Entry) -> Told:
    """What the client of a case is told."""
    data = case.data
    caller = Caller(Headers(tuple(_pairs(data.get("headers", {})))), data.get("wire"), data.get("endpoint"))
    happened = dict(data["verdict"])
    if "retry_after" in happened:
        happened["retry_after"] = dsl.duration(happened["retry_after"])
    return told(policy.client(caller), caller, Truth(**happened))


def _pairs(headers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        for one in value if isinstance(value, list) else [value]:
            yield name, str(one)


def _differences(expect: Mapping[str, Any], found: Told) -> Iterator[str]:
    sent = Headers(found.headers)
    for key, wanted in expect.items():
        if key == "headers":
            for name, value in wanted.items():
                yield from mismatch(f"header {name}", sent.get(name), value)
        else:
            yield from mismatch(key, getattr(found, key), wanted)
