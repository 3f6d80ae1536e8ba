"""Every tree has one canonical text, and that text has this tree."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from faultwise.dsl import parse, source
from faultwise.dsl.nodes import Node

from . import programs

bounded = settings(
    max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ('text   has\n any["a","b" ,]', 'text has any ["a", "b"]'),
        ("((status)) == (403)", "status == 403"),
        ("(a and b) or (c)", "a and b or c"),
        ("a and (b and c)", "a and (b and c)"),
        ("a and (b or c)", "a and (b or c)"),
        ("not (a)", "not a"),
        ("not (a or b)", "not (a or b)"),
        ("not not a", "not not a"),
        ("(not a) == b", "(not a) == b"),
        ("(a else b) else c", "(a else b) else c"),
        ("(a else b) == c", "a else b == c"),
        ("(a == b) exists", "(a == b) exists"),
        ("until 8:00 UTC else 5400s", "until 08:00 UTC else 1h30m"),
        ("until reset", "until reset"),
        ('"\\u0041\\n额"', '"A\\n额"'),
        ("a matches /x\\/y/", "a matches /x\\/y/"),
        ('pairs( header["x"],",","=" ) [ model ]', 'pairs(header["x"], ",", "=")[model]'),
        ("a == 1.50", "a == 1.5"),
        ("a == -3", "a == -3"),
        ("a == 100000000000000000000.0", "a == 100000000000000000000"),
        ("a == 0.00001", "a == 0.00001"),
        ("true==false", "true == false"),
        ("a in @my-list", "a in @my-list"),
    ],
)
def test_the_canonical_text(text: str, canonical: str) -> None:
    assert source(parse(text)) == canonical
    assert parse(canonical) == parse(text)


def test_only_nodes_have_a_text() -> None:
    with pytest.raises(TypeError, match="Node is not a construct of the language"):
        source(Node())


@bounded
@given(programs.conditions())
def test_a_condition_survives_being_written_and_read(node: Node) -> None:
    assert parse(source(node)) == node


@bounded
@given(programs.durations)
def test_a_duration_survives_being_written_and_read(node: Node) -> None:
    assert parse(source(node)) == node
