"""Every part of a file is found again at the line and column where it was written."""

from __future__ import annotations

import pickle

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.policy.document import Document, Scalar, excerpt, line_starts
from faultwise.engine.policy.yaml import read

FILE = """\
# a comment
rules:
  - id: first
    any: ["额度不足", second]
    403: number
  - id: &name second
    none: *name
empty:
list: []
"""


def document(text: str) -> Document:
    made, problems = read(text, "x.yaml")
    assert problems == ()
    assert made is not None
    return made


def character(made: Document, path: tuple[str | int, ...], offset: int) -> str:
    """The character of the file that `locate` points at."""
    line, column = made.locate(path, offset)
    return made.text[made.line_starts[line - 1] + column - 1 :][:1]


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ((), (2, 1), (2, 1)),
        (("rules",), (3, 3), (2, 1)),
        (("rules", 0), (3, 5), (3, 5)),
        (("rules", 0, "id"), (3, 9), (3, 5)),
        (("rules", 0, "any"), (4, 10), (4, 5)),
        (("rules", 0, "any", 1), (4, 19), (4, 19)),
        (("rules", 0, 403), (5, 10), (5, 5)),
        (("rules", 0, "403"), (5, 10), (5, 5)),
        (("rules", 1, "id"), (6, 15), (6, 5)),
        (("empty",), (8, 7), (8, 1)),
        (("list",), (9, 7), (9, 1)),
    ],
)
def test_values_and_keys_are_where_they_were_written(
    path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]
) -> None:
    assert (document(FILE).at(path), document(FILE).at(path, key=True)) == (value, key)


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        (("rules", 0, "status"), (3, 5)),
        (("rules", 7), (3, 3)),
        (("rules", -1), (3, 3)),
        (("rules", "first"), (3, 3)),
        (("nothing", "at", "all"), (2, 1)),
        (("rules", 0, "id", "deeper"), (3, 9)),
    ],
)
def test_a_path_that_is_not_there_is_shown_at_its_nearest_ancestor(
    path: tuple[str | int, ...], nearest: tuple[int, int]
) -> None:
    made = document(FILE)
    assert (made.at(path), made.at(path, key=True), made.locate(path, 3)) == (nearest, nearest, nearest)
    assert made.scalar(path) is None


def test_a_scalar_that_an_alias_repeats_is_shown_where_its_characters_are() -> None:
    assert document(FILE).at(("rules", 1, "none")) == (6, 15)


def test_a_list_that_an_alias_repeats_is_shown_at_the_alias_and_its_items_where_they_are() -> None:
    made = document("a: &words [one, two]\nb: *words\n")
    assert made.data == {"a": ["one", "two"], "b": ["one", "two"]}
    assert (made.at(("b",)), made.at(("b", 1))) == ((2, 4), (1, 17))


@pytest.mark.parametrize(
    ("source", "style"),
    [("k: x", "plain"), ("k: 'x'", "single"), ('k: "x"', "double"), ("k: |\n x", "literal"), ("k: >\n x", "folded")],
)
def test_a_scalar_knows_how_it_was_written(source: str, style: str) -> None:
    made = document("# one line\n" + source)
    assert made.scalar(("k",)) == Scalar(style, 14, 2, 4)


@pytest.mark.parametrize(
    ("source", "value", "offset", "where"),
    [
        ("k: code == 5", "code == 5", 8, (1, 12)),
        ("k: code ==\n   5", "code == 5", 8, (2, 4)),
        ("k: code\n\n\n   5", "code\n\n5", 6, (4, 4)),
        ("k: code\r\n\r\n   5", "code\n5", 5, (3, 4)),
        ("k: 额度 == 5", "额度 == 5", 6, (1, 10)),
        ("k: 'it''s x'", "it's x", 5, (1, 11)),
        ("k: 'a\n  b'", "a b", 2, (2, 3)),
        (r'k: "\u989d\t\x41\U0001F600 5"', "额\tA\U0001f600 5", 5, (1, 28)),
        ('k: "a\\\n   b"', "ab", 1, (2, 4)),
        ('k: "a\\\n\n   b"', "a\nb", 2, (3, 4)),
        ('k: "a\u2028 b"', "a\u2028b", 2, (1, 8)),
        ("k: |\n  one\n\n  two\n", "one\n\ntwo\n", 6, (4, 4)),
        ("k: |\r\n  one\r\n  two\r\n", "one\ntwo\n", 5, (3, 4)),
        ("k: |2\n   one\n  two\n", " one\ntwo\n", 1, (2, 4)),
        ("k: | # why\n  one\n", "one\n", 1, (2, 4)),
        ("k: |\n  one\n\nl: 1", "one\n", 9, (2, 6)),
        ("k: >\n  one\n  two\n", "one two\n", 5, (1, 4)),
        ("k: &a !!str 'ab'", "ab", 1, (1, 15)),
        ("k: ab", "ab", 99, (1, 6)),
    ],
)
def test_a_character_of_a_value_is_located_in_the_file(
    source: str, value: str, offset: int, where: tuple[int, int]
) -> None:
    made, _ = read(source, "x.yaml")
    assert made is not None
    assert made.data["k"] == value
    assert made.locate(("k",), offset) == where


def test_a_character_under_a_number_key_is_located() -> None:
    assert document("403: 'it''s'").locate(("403",), 3) == (1, 11)


@pytest.mark.parametrize("style", ["|", '"', "'", ""])
@given(
    value=st.text(st.sampled_from(" \n\t'\"\\#:ab额é\U0001f600\x85\u2028-"), min_size=1, max_size=60).map(
        "x{}y".format
    ),
    width=st.integers(5, 30),
)
def test_whatever_the_style_and_the_folds_each_character_is_located(style: str, value: str, width: int) -> None:
    source = yaml.safe_dump([{"k": value}], default_style=style, allow_unicode=True, width=width)  # type: ignore[call-overload]
    made = document(source)
    value = made.data[0]["k"]  # the writer is not always exact about breaks; the reader decides
    written = made.scalar((0, "k"))
    assert written is not None
    for offset, expected in enumerate(value):
        if not expected.isspace() and written.style != "folded":
            shown = character(made, (0, "k"), offset)
            assert shown == expected or shown == "\\" and written.style == "double"


def test_a_byte_order_mark_moves_nothing() -> None:
    assert document("\ufeffk: v").at(("k",)) == (1, 4)


def test_a_document_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(document(FILE))) == document(FILE)


@pytest.mark.parametrize(
    ("text", "offset", "drawn"),
    [
        ("one\ntwo three\n", 8, "two three\n    ^"),
        ("额 x", 2, "额 x\n\u3000 ^"),
        ("a\tb\r\n", 2, "a b\n  ^"),
        ("a", 1, "a\n ^"),
        ("<" + "x" * 200 + "y" + "z" * 200, 201, "x" * 50 + "y" + "z" * 49 + "\n" + " " * 50 + "^"),
    ],
)
def test_an_excerpt_shows_the_line_and_a_caret_below_the_character(text: str, offset: int, drawn: str) -> None:
    assert excerpt(text, line_starts(text), offset) == drawn
