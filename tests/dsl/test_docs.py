"""The language's page is complete, and what it shows is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from faultwise.dsl import DslError, Type, check, parse
from faultwise.dsl.functions import FUNCTIONS
from faultwise.dsl.nodes import OPERATORS, Compare, Name, Number

from .world import ENVIRONMENT, LISTS

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
EXAMPLES = [
    (kind, line)
    for kind, block in re.findall(r"```(expr|duration)\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize(("kind", "line"), EXAMPLES)
def test_every_example_is_sound(kind: str, line: str) -> None:
    expected = Type.BOOL if kind == "expr" else Type.DURATION
    assert check(parse(line), ENVIRONMENT, LISTS, expected) == ()


def test_every_operator_and_function_is_there() -> None:
    assert all(f"{operator}" in PAGE for operator in OPERATORS)
    assert all(f"`{signature}`" in PAGE for function in FUNCTIONS.values() for signature in function.signatures)


def test_the_error_shown_is_the_one_that_is_printed() -> None:
    (shown,) = re.findall(r"```text\n(unknown name.*?)```", PAGE, re.DOTALL)
    (error,) = check(parse(shown.splitlines()[1].strip()), ENVIRONMENT, LISTS, Type.BOOL)
    assert str(error) == shown.rstrip()


def test_the_reserved_words_are_those_that_cannot_be_fields() -> None:
    (words,) = re.findall(r"`([a-z ]+)` are reserved", PAGE)
    for word in words.split():
        try:
            node = parse(f"{word} == 1")
        except DslError:
            continue
        assert Name(word) not in (node, getattr(node, "left", None)), word
    assert parse("all == 1") == Compare("==", Name("all"), Number(1))
