"""What makes a 200 a failure."""

from __future__ import annotations

from typing import Any

import pytest
import re2

from faultwise.engine.failure.shape import (
    Ending,
    as_status,
    at_path,
    compile_alarm,
    compile_finish,
    compile_shapes,
    compile_words,
    substantive,
)

FINE = compile_words([0, "ok", "success"])


def holds(row: dict[str, Any], document: Any) -> bool:
    shapes = compile_shapes([{"id": "x", **row}], FINE)
    return any(shape.holds(document) for key in document for shape in shapes.get(key, ()))


@pytest.mark.parametrize(
    "value", [{}, [], None, "", "  ", False, 0, 0.0, {"a": None, "b": ""}, [{}], {"code": 0, "m": "OK"}]
)
def test_what_says_nothing_is_no_error(value: Any) -> None:
    assert not holds({"at": ["error"], "is": "value"}, {"error": value})


@pytest.mark.parametrize("value", ["x", True, 5, {"a": 1}, [{"a": "x"}], {"a": {"b": {"c": "x"}}}])
def test_what_says_something_is_an_error(value: Any) -> None:
    assert holds({"at": ["error"], "is": "value"}, {"error": value})


def test_what_is_too_deep_to_look_at_counts() -> None:
    assert substantive([[[[[[{"a": None}]]]]]])
    assert not substantive([[[[[[]]]]]])


def test_codes() -> None:
    row = {"at": ["base.code"], "is": "code"}
    for code in (1002, "1002", -1, 0.5):
        assert holds(row, {"base": {"code": code}})
    for code in (0, "0", None, "", " ok ", True, {}):
        assert not holds(row, {"base": {"code": code}})


def test_statuses() -> None:
    row = {"at": ["status"], "is": "status"}
    for status in (400, 599, "449", "403 FORBIDDEN"):
        assert holds(row, {"status": status})
    for status in (200, 399, 600, "4490", "completed", None, 429.0, True):
        assert not holds(row, {"status": status})


def test_texts() -> None:
    row = {"at": ["message"], "is": "text"}
    assert holds(row, {"message": "no"})
    assert not any(holds(row, {"message": value}) for value in ("", " ", "Success", {"content": "x"}, 5, None))


def test_words() -> None:
    row = {"at": ["success", "type"], "is": [False, "error"]}
    assert holds(row, {"success": False})
    assert holds(row, {"type": "Error"})
    assert not any(holds(row, {"type": value}) for value in ("errors", True, None, ["error"], {}))


def test_a_list_on_the_way_stands_for_each_of_its_items() -> None:
    assert holds({"at": ["choices.error"], "is": "value"}, {"choices": [{"error": None}, {"error": "x"}]})
    assert list(at_path({"a": [{"b": 1}, [{"b": 2}], {"b": [3, 4]}, {}, 5]}, ("a", "b"))) == [1, 3, 4]


def test_a_status_of_many_spellings() -> None:
    assert [as_status(value) for value in (429, "429", " 503", "403 FORBIDDEN", "1308", None, [])] == [
        429, 429, 503, 403, None, None, None,
    ]  # fmt: skip


def test_the_word_with_which_an_answer_ends() -> None:
    table = compile_finish([{"at": ["a.b"], "is": ["BAD"], "status": 502, "empty": True}])
    (shape,) = table["a"]
    assert (shape.word({"a": [{"b": None}, {"b": "Bad"}]}), shape.status, shape.empty) == ("Bad", 502, True)
    assert shape.word({"a": {"b": "fine"}}) is None
    assert Ending("x", None).status is None


@pytest.mark.parametrize(
    "row", [{"is": "nonsense"}, {"is": "words"}, {"is": "code", "unless": "x"}, {"is": "code", "beside": "answer"}]
)
def test_a_shape_that_makes_no_sense_is_named(row: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="shape `odd`"):
        compile_shapes([{"id": "odd", "at": ["x"], **row}], FINE)


def test_the_alarm_hears_what_could_hold_and_little_else() -> None:
    shapes = compile_shapes(
        [{"id": "e", "at": ["error"], "is": "value"}, {"id": "s", "at": ["ok"], "is": [False]}], FINE
    )
    alarm = re2.compile(compile_alarm([s for group in shapes.values() for s in group], ["told (x"]))
    for body in (
        '{"error": "x"}',
        '{"error":{"a":1}}',
        '{"ok" : false}',
        "told (x",
        "<html>",
        "data: x",
        '{"\\u0065rror":1}',
    ):
        assert alarm.search(body), body
    for body in (
        '{"error":null}',
        '{"error": {}}',
        '{"error":""}',
        '{"ok":true}',
        r'{"a":"\"error\": \"x\""}',
        r'{"a":"\u003cb"}',
    ):
        assert not alarm.search(body), body
