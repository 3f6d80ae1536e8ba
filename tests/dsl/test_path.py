"""Paths find what is there, and nothing where it is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.dsl import path

BODY = {
    "error": {
        "code": 1302,
        "nothing": None,
        "odd.name": "odd",
        "": "empty",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s", "n": 1, "on": True},
            {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"url": "a"}, {"url": "b"}], "n": 2},
            "prose",
            None,
        ],
    },
    "rows": [[1, 2], [3]],
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("error.code", 1302),
        ("error", BODY["error"]),
        ('error["odd.name"]', "odd"),
        ("error['odd.name']", "odd"),
        ('error[""]', "empty"),
        ('["error"].code', 1302),
        ('["err\\u006fr"]["code"]', 1302),
        ("error.details[0].retryDelay", "30s"),
        ("error.details[-2]", "prose"),
        ("rows[1][0]", 3),
        ("error.details[*].retryDelay", ["30s"]),
        ("error.details[*].links[*].url", ["a", "b"]),
        ("error.details[*]", BODY["error"]["details"][:3]),
        ("rows[*][*]", [1, 2, 3]),
        ("rows[*][0]", [1, 3]),
        ('error.details[?@type=="type.googleapis.com/google.rpc.RetryInfo"].retryDelay', ["30s"]),
        ("error.details[?@type=='type.googleapis.com/google.rpc.Help'].links[0].url", ["a"]),
        ("error.details[? n == 2 ].links[1].url", ["b"]),
        ("error.details[?on==true].retryDelay", ["30s"]),
        ('error.details[?"@type"=="x"]', []),
        ("error.details[?on==1]", []),
        ("error.details[?n==true]", []),
        ("error.nothing", None),
        ("error.absent.deeper", None),
        ("error.code.deeper", None),
        ("error[0]", None),
        ("rows.x", None),
        ("rows[9]", None),
        ("rows[-9]", None),
        ("error[*]", []),
        ("error[?x=='y']", []),
        ("absent[*].x", []),
    ],
)
def test_what_a_path_finds(text: str, found: Any) -> None:
    assert path.compile(text)(BODY) == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the path is empty"),
        (".", "the path is malformed at `.`"),
        ("a..b", "the path is malformed at `..b`"),
        ("a.", "the path is malformed at `.`"),
        ("a[", "the path is malformed at `[`"),
        ("a[x]", "the path is malformed at `[x]`"),
        ("a[1", "the path is malformed at `[1`"),
        ("$.a b", "the path is malformed at ` b`"),
        ("a[?x=1]", "the path is malformed at `[?x=1]`"),
        ("a.*", "the path is malformed at `.*`"),
        ('a["\\x"]', 'the path has a bad escape in "\\x"'),
        ("a" * 201, "a path of 201 characters, more than 200"),
        ("a" + "[0]" * 20, "a path of 21 steps, more than 20"),
    ],
)
def test_a_malformed_path_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        path.compile(text)
    assert str(caught.value) == message


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=10,
)


@settings(deadline=None, derandomize=True, database=None)
@given(json_values, st.sampled_from(("a", "a.b", "[0]", "[*]", "[*][*].a", "a[?b=='c'].d", "[-1].a")))
def test_a_path_meets_any_json_without_an_exception(value: Any, text: str) -> None:
    found = path.compile(text)(value)
    assert "*" not in text and "?" not in text or isinstance(found, list)


@settings(deadline=None, derandomize=True, database=None)
@given(st.lists(st.one_of(st.text(max_size=5), st.integers(0, 2)), min_size=1, max_size=6), json_values)
def test_a_value_is_found_where_it_was_put(steps: list[str | int], value: Any) -> None:
    import json

    body = value
    for step in reversed(steps):
        body = {step: body} if isinstance(step, str) else [None] * step + [body]
    text = "".join(f"[{json.dumps(step)}]" for step in steps)
    assert path.compile(text)(body) == value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("error.code", "error"),
        ('["odd.name"].x', "odd.name"),
        ("error[0]", "error"),
        ("[0].x", None),
        ("[*]", None),
        ("", None),
    ],
)
def test_the_name_a_path_begins_with_must_be_there(text: str, name: str | None) -> None:
    assert path.head(text) == name
