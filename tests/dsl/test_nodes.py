"""Trees can be taken apart, and be built from what a rule lists."""

from __future__ import annotations

import pytest

from faultwise.dsl import Span, Type, check, conjuncts, markers, parse, source

from .world import ENVIRONMENT, LISTS


def test_the_parts_of_a_conjunction_at_any_depth() -> None:
    parts = conjuncts(parse("a and (b and (c or d)) and not (e and f)"))
    assert [source(part) for part in parts] == ["a", "b", "c or d", "not (e and f)"]


def test_what_is_no_conjunction_is_its_own_only_part() -> None:
    node = parse("a or b")
    assert conjuncts(node) == (node,)


@pytest.mark.parametrize(
    ("quantifier", "text"),
    [
        ("any", 'text has any ["aa", "b\\"b"]'),
        ("all", 'text has all ["aa", "b\\"b"]'),
        ("none", 'not text has any ["aa", "b\\"b"]'),
    ],
)
def test_listed_markers_are_the_condition_one_would_write(quantifier: str, text: str) -> None:
    node = markers("text", quantifier, ("aa", 'b"b'))
    assert node == parse(text)
    assert source(node) == text


def test_what_is_wrong_with_a_listed_marker_is_reported_at_its_place() -> None:
    node = markers("text", "any", ("fine", "x", ""), (Span(1, 5), Span(9, 10), Span(12, 12)))
    errors = check(node, ENVIRONMENT, LISTS, Type.BOOL)
    assert [(error.message, error.span, error.excerpt()) for error in errors] == [
        ("the marker `x` is too short", Span(9, 10), ""),
        ("an empty marker", Span(12, 12), ""),
    ]


def test_no_markers_at_all_are_an_empty_list() -> None:
    errors = check(markers("text", "any", (), ()), ENVIRONMENT, LISTS, Type.BOOL)
    assert [error.message for error in errors] == ["an empty list"]
