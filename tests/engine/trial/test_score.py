"""The score on labelled failures."""

from __future__ import annotations

from typing import Any

import pytest

from faultwise.engine.trial.score import labels, score

LABEL = {"reason": "quota_exhausted", "scope": "model", "temporary": True, "fallback": True, "status": 429}
WAITS = {**LABEL, "retry_after_s": 60.0}
VERDICT = {**LABEL, "stated_s": None, "terminal": None}


def one(expected: dict[str, Any], verdict: dict[str, Any] | None, **row: Any) -> dict[str, bool]:
    return {line.name: line.right == 1 for line in score([({"expected": expected, **row}, verdict)])}


def test_a_verdict_that_agrees_is_right_in_everything() -> None:
    assert all(one(LABEL, VERDICT, misreported=True, fidelity="exact", also_ok=[]).values())


def test_another_whole_label_counts_in_lenient_only() -> None:
    found = one(LABEL, {**VERDICT, "reason": "overloaded"}, also_ok=[{**LABEL, "reason": "overloaded"}])
    assert (found["four, lenient"], found["four, strict"]) == (True, False)
    mixed = one(LABEL, {**VERDICT, "reason": "overloaded"}, also_ok=[{**LABEL, "reason": "overloaded", "scope": "x"}])
    assert (mixed["four, lenient"], mixed["reason, lenient"], mixed["scope, lenient"]) == (False, True, True)


def test_scopes_the_labels_do_not_know_count_as_the_wider_known_one() -> None:
    assert one(LABEL, {**VERDICT, "scope": "model_family"})["four, strict"]
    assert not one(LABEL, {**VERDICT, "scope": "provider"})["not locked too wide"]


def test_no_verdict_is_wrong_in_everything() -> None:
    assert not any(one(LABEL, None).values())
    assert not any(one(WAITS, None).values())


@pytest.mark.parametrize(
    ("wanted", "stated", "right"),
    [
        (60.0, 60.9, True),
        (60.0, 62.0, False),
        (2.0, 2.04, True),
        (2.0, 2.1, False),
        (60.0, None, False),
        (60.0, True, False),
        (86400.0, 86000.0, True),
    ],
)
def test_a_stated_wait_is_close(wanted: float, stated: Any, right: bool) -> None:
    assert one({**LABEL, "retry_after_s": wanted}, {**VERDICT, "stated_s": stated})["stated wait"] is right


def test_a_wait_that_a_label_may_lack_may_be_lacking_and_none_may_be_invented() -> None:
    assert one(WAITS, VERDICT, also_ok=[LABEL])["stated wait"]
    assert not one(LABEL, {**VERDICT, "stated_s": 5.0})["no wait invented"]
    assert "no wait invented" not in one(LABEL, VERDICT, also_ok=[WAITS])


def test_a_ban_on_what_ends_by_itself_is_wrong_and_on_other_things_not_asked() -> None:
    assert not one(LABEL, {**VERDICT, "terminal": "banned"})["no ban on the temporary"]
    assert "no ban on the temporary" not in one({**LABEL, "temporary": False}, VERDICT)


def test_a_line_reads_as_name_count_and_percent() -> None:
    (first, *_) = score([({"expected": LABEL}, VERDICT), ({"expected": LABEL}, None)])
    assert str(first) == "four, lenient                   1/2     50.0%"


@pytest.mark.parametrize("row", [{}, {"expected": 1}, {"expected": LABEL, "also_ok": [1]}, [1]])
def test_a_row_without_labels_is_refused(row: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        labels(row)
