"""The quick yes or no says what a full validator says."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from faultwise.engine.policy.schema import NAMES, schema
from faultwise.engine.policy.screen import is_date, screen

VALUES = [
    None, True, False, 0, 1, 2.0, 2.5, 403, 700, "", "x", "4xx", "599-600", "90s", "1h30m", "30m1h", "refused",
    "quota_exhausted", "provider", "model", "Bad Name", [], ["a"], [403], {}, {"a": 1}, {403: "x"}, "yes", "*",
]  # fmt: skip
WHOLE: dict[str, dict[Any, Any]] = {
    "provider": {
        "faultwise": 1,
        "kind": "provider",
        "provider": "relay",
        "families": {"codex": ["gpt-5*"]},
        "reset": {"at": "00:00", "zone": "Asia/Shanghai"},
        "restatements": [{"id": "a", "from": [400, "403"], "to": 429, "any": "x", "retry_after": "60s"}],
        "rules": [{"id": "b", "status": "4xx", "reason": "auth_error", "lock": "model", "phase": ["body"], "cap": "1h"}],
        "cases": [{"name": "c", "status": None, "headers": {"a": [1, "b"]}, "body": {"x": 1}, "expect": {"stated": None}}],
        "lanes": [{"id": "slow", "anything": 1}],
    },
    "rules": {"faultwise": 1, "kind": "rules", "rules": [], "disable": ["x"]},
    "cases": {"faultwise": 1, "kind": "cases", "cases": []},
    "clients": {"faultwise": 1, "kind": "clients", "clients": [{"id": "codex", "restatements": []}]},
    "policy": {
        "faultwise": 1,
        "kind": "policy",
        "reasons": {"x": {"fault": "caller", "status": 400, "accepts": [409], "+steps": ["1s"]}},
        "allowlists": {"+full_text": ["relay"], "lock_scope": ["*"]},
        "markers": {"words": ["a"], "+more": ["b"]},
        "defaults": {403: "auth_error", "4xx": "bad_request", "520-524": "server_error"},
        "profiles": {"oauth": {"breaker": {"ratio": 0.5, "opens_at": 8}}},
    },
    "gateway": {
        "faultwise": 1,
        "kind": "gateway",
        "connections": [{"id": "a", "provider": "p", "base_url": "http://x", "secret": "${X}", "max_concurrent": 2}],
        "combos": {"coding": {"strategy": "priority", "targets": [{"provider": "p", "model": "m"}]}},
        "limits": {"body": "64MiB"},
    },
}  # fmt: skip


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for key, value in inner for found in places(value, (*path, key)))]


def changed(data: Any, path: tuple[Any, ...], edit: str, value: Any) -> Any:
    """A copy with the value at a path replaced, removed or given a new neighbour."""
    if not path:
        return value
    data = copy.deepcopy(data)
    held = data
    for step in path[:-1]:
        held = held[step]
    if edit == "remove":
        del held[path[-1]]
    elif edit == "add" and isinstance(held, dict):
        held[403 if value == 403 else "added"] = value
    else:
        held[path[-1]] = value
    return data


def named(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): named(value) for key, value in data.items()}
    return [named(value) for value in data] if isinstance(data, list) else data


@pytest.mark.parametrize("kind", NAMES)
def test_a_whole_file_fits(kind: str) -> None:
    assert screen(schema(kind))(WHOLE[kind])


@pytest.mark.parametrize("kind", NAMES)
@given(draw=st.data())
def test_a_changed_file_fits_if_a_full_validator_says_so(kind: str, draw: st.DataObject) -> None:
    path = draw.draw(st.sampled_from(places(WHOLE[kind])))
    edit = draw.draw(st.sampled_from(["replace", "remove", "add"]))
    data = changed(WHOLE[kind], path, edit, draw.draw(st.sampled_from(VALUES)))
    assert screen(schema(kind))(data) == Draft202012Validator(schema(kind)).is_valid(named(data))


@pytest.mark.parametrize(
    ("made", "fitting", "unfitting"),
    [
        ({"type": ["string", "null"]}, ["", None], [1, True, []]),
        ({"type": "integer"}, [1, 1.0], [True, 1.5, "1"]),
        ({"type": "number"}, [1, 1.5], [False]),
        ({"const": 1}, [1, 1.0], [True, "1", [1]]),
        ({"enum": ["a", "b"]}, ["a"], ["c", None, ["a"], {"a": 1}]),
        ({"format": "date"}, ["2026-01-31", 5], ["2026-02-30", "20260131", "today"]),
        ({"pattern": "^a"}, ["ab", 5], ["b"]),
        ({"minimum": 1, "maximum": 3}, [1, 3, "x"], [0, 4]),
        ({"minLength": 1, "maxLength": 2}, ["a", "ab", []], ["", "abc"]),
        ({"minItems": 1, "maxItems": 2}, [[1], "", {}], [[], [1, 2, 3]]),
        ({"minProperties": 1}, [{"a": 1}, []], [{}]),
        ({"required": ["a"]}, [{"a": 1}, []], [{}]),
        ({"items": {"type": "string"}}, [["a"], "a"], [[1]]),
        ({"propertyNames": {"pattern": "^[0-9]+$"}}, [{403: 1}, []], [{"a": 1}]),
        ({"patternProperties": {"^a": {"const": 1}}, "additionalProperties": False}, [{"a": 1}, 5], [{"a": 2}, {"b": 1}]),
        ({"properties": {"a": {"const": 1}}}, [{"a": 1, "b": 2}], [{"a": 2}]),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, [1, 2], [3]),
        ({"not": {"const": 1}}, [2], [1]),
        ({"properties": {"a": False}}, [{}], [{"a": 1}]),
        ({"title": "anything"}, [None, 1, {}], []),
        (
            {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}}}},
            [{}, {"a": {"b": {}}}],
            [1, {"a": {"b": 1}}],
        ),
    ],
)  # fmt: skip
def test_each_keyword_is_what_the_standard_says(made: dict[str, Any], fitting: list[Any], unfitting: list[Any]) -> None:
    fits = screen(made)
    assert ([value for value in fitting if not fits(value)], [value for value in unfitting if fits(value)]) == ([], [])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"oneOf": []}, "unknown keyword `oneOf`"),
        ({"format": "email"}, "unknown format `email`"),
        ({"enum": [None]}, "only text and whole numbers can be listed under `enum` and `const`"),
    ],
)
def test_a_schema_it_does_not_understand_is_refused(made: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        screen(made)


def test_a_day_is_a_day_of_the_calendar() -> None:
    assert [is_date(text) for text in ("2028-02-29", "2026-02-29", "2026-1-1", "")] == [True, False, False, False]
