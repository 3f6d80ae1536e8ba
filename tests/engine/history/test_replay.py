"""Recorded failures, decided again."""

from __future__ import annotations

import json
from collections.abc import Callable

from faultwise.engine.history.replay import replay
from faultwise.engine.policy.policy import Policy

RULE = (
    "faultwise: 1\nkind: provider\nprovider: acme\n"
    "rules:\n  - {id: acme-q, status: [403], any: [used up], reason: quota_exhausted}\n"
)
FAILURE = {"id": "a", "provider": "acme", "status": 403, "body": {"error": {"message": "used up"}}}


def lines(*rows: object) -> list[tuple[int, bytes]]:
    return [(n, row if isinstance(row, bytes) else json.dumps(row).encode()) for n, row in enumerate(rows, 1)]


def test_decisions_are_compared_with_the_recorded_ones(over: Callable[..., Policy]) -> None:
    policy = over({"acme.yaml": RULE})
    same = {**FAILURE, "verdict": {"reason": "quota_exhausted", "cooldown_s": 3600}}
    other = {**FAILURE, "verdict": {"reason": "auth_error"}}
    part = replay(policy, lines(same, b"", other, FAILURE, b"{"), 0.0)
    assert [found.number for found in part.changes] == [3]
    assert (part.tally.lines, part.tally.compared, part.tally.changed, part.tally.unreadable) == (4, 2, 1, 1)
    assert part.tally.reasons == {"quota_exhausted": 3}
    assert [recorded.number for recorded in part.unreadable] == [5]


def test_with_an_old_policy_the_two_are_compared_and_what_was_recorded_is_not(over: Callable[..., Policy]) -> None:
    row = {**FAILURE, "verdict": {"reason": "nonsense"}}
    part = replay(over({"acme.yaml": RULE}), lines(row), 0.0, over({}))
    (found,) = part.changes
    assert (found.before["reason"], found.after["reason"]) == ("auth_error", "quota_exhausted")
    assert replay(over({}), lines(row), 0.0, over({})).changes == []
