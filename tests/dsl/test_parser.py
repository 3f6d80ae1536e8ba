"""Text becomes a tree that remembers where it was written, within bounds that nothing gets around."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.dsl import DslError, Node, Span, Type, check, compile, parse, source
from faultwise.dsl.nodes import Compare, Else, List, Name, Not, Number, Or, Pattern, Text
from faultwise.dsl.parser import DEEPEST, LONGEST

from .world import ENVIRONMENT, LISTS


def test_an_expression_that_is_too_long_is_refused() -> None:
    text = 'body has "' + "a" * LONGEST + '"'
    with pytest.raises(DslError, match="an expression of 4011 characters, more than 4000"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 41 + "is_error" + ")" * 41,
        "(" * 3_000,
        "not " * 41 + "is_error",
        "not " * 999,
        "[" * 3_000,
        "min(" * 900,
        "(not " * 21 + "is_error" + ")" * 21,
        'header["x"][' * 300,
    ],
)
def test_an_expression_that_is_nested_too_deep_is_refused(text: str) -> None:
    with pytest.raises(DslError):
        parse(text)


def test_as_deep_as_is_allowed_can_be_walked_by_everyone() -> None:
    levels = DEEPEST - 1
    text = "(" * levels + "is_error" + " else false == is_error and is_error or not is_error)" * levels
    node = parse(text)
    assert check(node, ENVIRONMENT, LISTS, Type.BOOL) == ()
    assert compile(node, ENVIRONMENT, LISTS)({}) is True
    assert repr(node)
    assert hash(node) == hash(parse(text))
    assert parse(source(node)) == node


def test_what_lies_side_by_side_is_not_nested() -> None:
    text = " and ".join(["not is_error"] * 100)
    assert check(parse(text), ENVIRONMENT, LISTS, Type.BOOL) == ()


def test_nodes_know_where_they_were_written() -> None:
    text = ' body  has any ["aa", "bb"] '
    node = parse(text)
    assert isinstance(node, Compare) and isinstance(node.right, List)
    assert (node.span.start, node.span.end, node.span.text) == (1, 27, text)
    assert [text[item.span.start : item.span.end] for item in node.right.items] == ['"aa"', '"bb"']
    assert node.left.span == Span(1, 5)


def test_brackets_belong_to_what_they_hold() -> None:
    node = parse("(model else body) exists")
    assert node.span.start == 0
    assert [child.span for child in (node.value,)] == [Span(0, 17)]  # type: ignore[attr-defined]


def test_trees_are_equal_wherever_they_stood() -> None:
    assert parse("status==403") == parse("  ( status\n == 403 )")
    assert hash(parse("status==403")) == hash(parse("status == 403"))


def test_words_of_the_language_that_are_not_reserved_may_be_fields() -> None:
    assert parse('any has any ["aa"]') == Compare("has any", Name("any"), List((Text("aa"),)))
    assert parse("notes == 1 or inner == 2") == Or(
        (Compare("==", Name("notes"), Number(1)), Compare("==", Name("inner"), Number(2)))
    )
    assert parse("not notes") == Not(Name("notes"))


def test_an_escaped_slash_is_a_slash_and_other_escapes_are_the_regexes_own() -> None:
    assert parse(r"a matches /x\/y\d\\\/z/") == Compare("matches", Name("a"), Pattern(r"x/y\d\\/z"))


def test_else_takes_the_nearest_values() -> None:
    assert parse("a else b == c") == Compare("==", Else((Name("a"), Name("b"))), Name("c"))


def test_one_parser_serves_many_threads() -> None:
    texts = [f'status == {number} and body has any ["a{number}", "b{number}"]' for number in range(100, 200)]
    with ThreadPoolExecutor(8) as pool:
        assert [source(node) for node in pool.map(parse, texts)] == texts


@settings(deadline=None, derandomize=True, database=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(
                "text has any all in not and or exists else until reset 08:00 UTC starts with matches ( ) [ ] , == < "
                '"a" "quota" /x(1)/ @x 1 1h true number min pairs raw header json = ! \' '.split()
            ),
            max_size=15,
        ).map(" ".join),
    )
)
def test_any_text_is_an_expression_or_an_error_with_a_place(text: str) -> None:
    try:
        node: Node = parse(text)
    except DslError as error:
        assert 0 <= error.span.start <= error.span.end <= len(text) + 1
        assert str(error).startswith(error.message)
    else:
        check(node, ENVIRONMENT, LISTS, Type.BOOL)
        assert parse(source(node)) == node
