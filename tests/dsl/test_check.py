"""The checker's bounds, and what it needs of its environment; its messages are among the cases."""

from __future__ import annotations

from faultwise.dsl import Environment, Field, Type, check, markers, parse
from faultwise.dsl.check import MOST_ITEMS

from .world import ENVIRONMENT, LISTS


def messages(text: str, expect: Type = Type.BOOL, environment: Environment = ENVIRONMENT) -> list[str]:
    return [error.message for error in check(parse(text), environment, LISTS, expect)]


def test_a_list_that_is_too_long_is_refused() -> None:
    values = tuple(f"marker {number}" for number in range(MOST_ITEMS + 1))
    assert check(markers("text", "any", values[:-1]), ENVIRONMENT, LISTS, Type.BOOL) == ()
    (error,) = check(markers("text", "any", values), ENVIRONMENT, LISTS, Type.BOOL)
    assert error.message == "a list of 501 items, more than 500"


def test_a_named_list_that_is_too_long_is_refused() -> None:
    lists = {"long": tuple(f"marker {number}" for number in range(MOST_ITEMS + 1))}
    (error,) = check(parse("text has any @long"), ENVIRONMENT, lists, Type.BOOL)
    assert error.message == "a list of 501 items, more than 500"


def test_until_needs_a_clock() -> None:
    timeless = Environment({}, {})
    assert messages("until 00:00 UTC", Type.DURATION, timeless) == ["there is no clock here"]
    timely = Environment({"now": Field(Type.FLOAT, lambda subject: 0.0)}, {})
    assert messages("until 00:00 UTC", Type.DURATION, timely) == []
    assert messages("until reset", Type.DURATION, timely) == ["there is no clock here"]


def test_what_is_expected_may_be_anything() -> None:
    assert messages("model", Type.ANY) == []
    assert messages("attempt", Type.FLOAT) == []
    assert messages("now", Type.INT) == ["a whole number is expected here, not a number"]
    assert messages("code", Type.STRING) == ["a text is expected here, not a list of texts"]


def test_every_problem_is_reported_in_the_order_of_the_text() -> None:
    found = check(parse('foo == 1 and status == 1000 and text has "a" and bar exists'), ENVIRONMENT, LISTS, Type.BOOL)
    assert [error.span.start for error in found] == [0, 23, 41, 49]
    assert all(error.text and error.excerpt() for error in found)
