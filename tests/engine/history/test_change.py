"""Differences between two verdicts, and their tally."""

from __future__ import annotations

from typing import Any

from faultwise.engine.history.change import Tally, change

OLD: dict[str, Any] = {
    "id": "a",
    "provider": "acme",
    "upstream_status": 403,
    "reason": "auth_error",
    "scope": "connection",
    "status": 403,
    "temporary": False,
    "terminal": None,
    "fallback": True,
    "cooldown_s": 120.0,
    "retry_after_s": None,
    "rule": "default-403",
}
NEW = {**OLD, "reason": "quota_exhausted", "temporary": True, "cooldown_s": 60.0, "retry_after_s": 60.0, "rule": "acme"}


def test_verdicts_that_decide_alike_do_not_differ_whatever_rule_said_so() -> None:
    assert change(1, OLD, {**OLD, "rule": "acme", "policy": "sha256:0", "cooldown_s": 120.02}) is None


def test_a_change_holds_the_fields_that_differ() -> None:
    found = change(3, OLD, NEW)
    assert found is not None
    assert found.to_json() == {
        "number": 3,
        "id": "a",
        "provider": "acme",
        "upstream_status": 403,
        "before": {
            "reason": "auth_error",
            "temporary": False,
            "cooldown_s": 120.0,
            "retry_after_s": None,
            "rule": "default-403",
        },
        "after": {
            "reason": "quota_exhausted",
            "temporary": True,
            "cooldown_s": 60.0,
            "retry_after_s": 60.0,
            "rule": "acme",
        },
    }
    assert str(found) == (
        "line 3 (a)  acme 403  reason auth_error -> quota_exhausted; temporary false -> true; "
        "cooldown_s 120 -> 60; retry_after_s none -> 60; rule default-403 -> acme"
    )


def test_fields_that_were_not_recorded_are_not_compared() -> None:
    assert change(1, {"reason": "auth_error"}, {**NEW, "reason": "auth_error"}) is None
    found = change(1, {"reason": "x"}, {"reason": "y"})
    assert found is not None and str(found) == "line 1  - -  reason x -> y"


def test_a_tally_counts_values_and_of_waits_their_direction() -> None:
    tally = Tally(lines=1)
    for before, after in ((OLD, NEW), (NEW, OLD), (OLD, OLD), (OLD, {**OLD, "cooldown_s": 300})):
        tally.note(change(1, before, after))
    rows = {(row["field"], row["before"], row["after"]): row["count"] for row in tally.to_json()["by_field"]}
    assert (tally.compared, tally.changed) == (4, 3)
    assert rows["reason", "auth_error", "quota_exhausted"] == 1
    assert rows["cooldown", "a wait", "a longer one"] == 2
    assert rows["cooldown", "a wait", "a shorter one"] == 1
    assert rows["retry_after", "none", "a wait"] == rows["retry_after", "a wait", "none"] == 1


def test_tallies_of_parts_add_up() -> None:
    part, whole = Tally(lines=2, unreadable=1), Tally()
    part.note(change(1, OLD, NEW))
    part.reasons["quota_exhausted"] += 1
    whole.add(part)
    whole.add(part)
    assert (whole.lines, whole.unreadable, whole.compared, whole.changed) == (4, 2, 2, 2)
    assert whole.to_json()["reasons"] == {"quota_exhausted": 2}
    assert {row["count"] for row in whole.to_json()["by_field"]} == {2}
