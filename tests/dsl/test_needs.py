"""What a text must hold for a condition to have a chance."""

from __future__ import annotations

import pytest

from faultwise.dsl import needs, parse

LISTS = {"quota": ("Out of Quota", "额度不足")}


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
        ('text has "aa" or status == 403', None),
        ('not text has "aa"', None),
        ('raw(text) has "aa"', None),
        ("text has model", None),
        ('body has "aa"', None),
        ('text == "aa"', None),
        ("status == 403 and model exists", None),
    ],
)
def test_the_markers_of_which_one_must_be_there(text: str, markers: set[str] | None) -> None:
    assert needs(parse(text), lists=LISTS) == markers


def test_another_field_may_be_asked_about() -> None:
    assert needs(parse('body has "aa"'), "body") == {"aa"}
