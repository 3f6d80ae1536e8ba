"""JSON as it comes: cut off, inside prose, as a Python dict."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.literal import MISSING, MOST_OBJECTS, embedded, parse, parse_lines, texts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=3)


@pytest.mark.parametrize(
    "text",
    ["", "quota", "{'a': 1}", '{"a": 1} trailing', "[1}", "{]", "[" * 100_000, "{not json", '{"a', '{"a":' * 100_000],
)
def test_what_is_not_json_is_missing(text: str) -> None:
    assert parse(text) is MISSING


def test_json_is_parsed_and_null_is_a_value() -> None:
    assert parse(' {"a": [1, null]} ') == {"a": [1, None]}
    assert parse("null") is None
    assert parse('{"a": "raw\nnewline"}') == {"a": "raw\nnewline"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"error":{"message":"quota ex', {"error": {"message": "quota ex"}}),
        ('{"error":{"message":"quota \\u98', {"error": {"message": "quota "}}),
        ('{"error":{"message":"quota \\', {"error": {"message": "quota "}}),
        ('{"a":[1,2,{"b":"c"', {"a": [1, 2, {"b": "c"}]}),
        ('{"a":1,', {"a": 1}),
        ('{"a":1,"b', {"a": 1}),
        ('{"a":1,"b":', {"a": 1}),
        ('{"a":1,"b":tr', {"a": 1}),
        ("[1, 2", [1, 2]),
    ],
)
def test_json_that_was_cut_off_is_closed(text: str, value: object) -> None:
    assert parse(text) == value


@given(OBJECT, st.data())
def test_wherever_json_is_cut_off_nothing_is_invented(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text)))]
    found = parse(cut)
    assert found is MISSING or set(found) <= set(value)


def test_lines_of_json_are_parsed_and_anything_else_is_not() -> None:
    assert parse_lines('{"a":1}\n\n{"b":2}\n') == [{"a": 1}, {"b": 2}]
    assert parse_lines('{"a":1}\nplain') == []


def values(text: str) -> list[object]:
    return [item.value for item in embedded(text)]


def test_objects_inside_prose_are_found_in_order() -> None:
    text = """first {"a": 1}, then {'b': "it's", 'c': None} and {"d": {"e": 2}}."""
    assert values(text) == [{"a": 1}, {"b": "it's", "c": None}, {"d": {"e": 2}}]
    assert [text[item.start : item.end] for item in embedded(text)][0] == '{"a": 1}'


def test_an_object_escaped_once_too_often_is_found() -> None:
    assert values(r"failed: {\"error\":{\"message\":\"x\"}}") == [{"error": {"message": "x"}}]


def test_an_object_cut_off_at_the_end_is_found() -> None:
    assert values('failed: {"error":{"message":"x y') == [{"error": {"message": "x y"}}]


@pytest.mark.parametrize(
    "text",
    [
        "no brace",
        "{",
        "{}",
        "{x}",
        "set {a, b} and {c}",
        "{'a': datetime(1)}",
        "{1, 2}",
        r"{\"a",
        "{'a':" * 60 + "1" + "}" * 60,
    ],
)
def test_braces_that_hold_no_object_are_passed_over(text: str) -> None:
    assert values(text) == []


def test_an_object_after_braces_that_hold_none_is_found() -> None:
    assert values('model {name} says {"a": 1}') == [{"a": 1}]


def test_only_so_many_objects_are_looked_at() -> None:
    assert len(values('{"a": 1} ' * 50)) == MOST_OBJECTS


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8"), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), PLAIN, min_size=1, max_size=3))
def test_the_repr_of_a_dict_is_read_as_the_dict(value: dict[str, object]) -> None:
    assert values(f"Error code: 429 - {value!r}") == [value]


def test_an_unknown_escape_in_a_repr_is_kept() -> None:
    assert values(r"{'path': 'C:\d\x41'}") == [{"path": r"C:\dA"}]


def test_texts_of_a_value_down_to_a_level() -> None:
    assert list(texts({"a": "x", "b": ["y", {"c": "z"}], "d": 1}, 2)) == ["x", "y"]
