"""What must be there for a condition to have a chance."""

from __future__ import annotations

import pytest

from faultwise.dsl import Needs, needs, parse
from faultwise.dsl.nodes import And, Entry, Name

LISTS = {"quota": ("Out of Quota", "额度不足"), "codes": ("1302", "A1")}


@pytest.mark.parametrize(
    ("text", "markers"),
    [
        ('text has "Quota"', {"quota"}),
        ('text has any ["Rate  Limit", "额度不足"]', {"rate limit", "额度不足"}),
        ("text has any @quota", {"out of quota", "额度不足"}),
        ('text has all ["a b", "longest"]', {"longest"}),
        ("text has all @quota", {"out of quota"}),
        ('text has any ["aa", "bb", "cc"] and text has any ["dd", "ee"]', {"dd", "ee"}),
        ('status == 403 and text has "aa"', {"aa"}),
        ('text has "aa" or text has "bb"', {"aa", "bb"}),
        ('text == "aa"', {"aa"}),
        ('code == "Rate_Limited"', {"rate_limited"}),
        ('code in ["AA", "bb"]', {"aa", "bb"}),
        ("code in @codes", {"1302", "a1"}),
        ('code starts with "Throttling."', {"throttling."}),
        ('code ends with "ed"', {"ed"}),
        ("text matches /per (day|month)/", {"per day", "per month"}),
        ("number(text, /limit: (\\d+)/) > 0", {"limit: "}),
        ("number(text, /limit: (\\d+)/) exists", {"limit: "}),
    ],
)
def test_the_markers_of_which_one_must_be_there(text: str, markers: set[str]) -> None:
    assert needs(parse(text), ("text", "code"), lists=LISTS) == Needs(frozenset(markers))


@pytest.mark.parametrize(
    "text",
    [
        'text has "aa" or status == 403',
        'not text has "aa"',
        'raw(text) has "aa"',
        "raw(text) matches /quota/",
        "text has model",
        'body has "aa"',
        'code != "aa"',
        'code not in ["aa"]',
        'code == ""',
        "text matches /\\d+/",
        "number(text) == 3",
        "status == 403 and model exists",
        "true",
    ],
)
def test_conditions_of_which_nothing_is_known(text: str) -> None:
    assert needs(parse(text), ("text", "code"), ("header",), lists=LISTS) is None


@pytest.mark.parametrize(
    "text",
    [
        "outer exists",
        'outer has "x1"',
        'outer != "x"',
        "seconds(outer) > 3s",
        'pairs(outer, ",", "=")[model] == "x1"',
        "outer exists and outer exists",
    ],
)
def test_a_comparison_needs_what_it_compares(text: str) -> None:
    assert needs(parse(text), values=("outer",)) == Needs(values=frozenset({Name("outer")}))


def test_a_field_with_a_key_is_one_value() -> None:
    key = Entry("header", "retry-after")
    assert needs(parse('header["retry-after"] == "1"'), values=("header",)) == Needs(values=frozenset({key}))


def test_markers_and_values_may_stand_for_one_another() -> None:
    found = needs(parse('outer exists or text has "aa"'), values=("outer",))
    assert found == Needs(frozenset({"aa"}), frozenset({Name("outer")}))


def test_markers_are_looked_for_rather_than_values() -> None:
    assert needs(parse('outer exists and text has any ["aa", "bb"]'), values=("outer",)) == Needs(
        frozenset({"aa", "bb"})
    )


def test_no_condition_needs_nothing() -> None:
    assert needs(And(())) is None
