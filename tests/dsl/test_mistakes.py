"""Every kind of mistake in the tables gets its own words, and the examples show it."""

from __future__ import annotations

import pytest

from faultwise.dsl import DslError, parse
from faultwise.dsl.mistakes import CHARACTERS, MISTAKES, WORDS, Mistake
from faultwise.dsl.nodes import OPERATORS

EXAMPLES = [(mistake, example) for mistake in MISTAKES for example in mistake.examples]


@pytest.mark.parametrize(("mistake", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_an_example_of_a_mistake_gets_its_message(mistake: Mistake, example: str) -> None:
    with pytest.raises(DslError) as caught:
        parse(example)
    assert caught.value.message.endswith(mistake.message.removeprefix("{found}"))
    assert caught.value.hint == mistake.hint


@pytest.mark.parametrize(("word", "meant"), WORDS.items())
def test_a_word_of_another_language_is_answered_with_ours(word: str, meant: str) -> None:
    with pytest.raises(DslError) as caught:
        parse(f'text {word} "x"')
    assert caught.value.hint == f"write `{meant}`"
    assert meant in (*OPERATORS, "else", "exists")


@pytest.mark.parametrize(("beginning", "message", "hint"), CHARACTERS)
def test_a_sign_that_is_none_of_ours_is_explained(beginning: str, message: str, hint: str) -> None:
    with pytest.raises(DslError) as caught:
        parse(f"text {beginning} x")
    assert (caught.value.message, caught.value.hint) == (message, hint)
    assert caught.value.span.start == 5
