"""The shapes of compiled conditions: small functions over getters, with the constants worked out beforehand.

Each has a short form for the case that rules are made of, because a reload makes thousands and a failure runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isnan
from typing import Any

from .fold import fold
from .regex import Regex
from .scan import SCAN_ABOVE, first_used
from .types import Contains, Get

Test = Callable[[Any], bool]
TextTest = Callable[[str], bool]
Texts = Callable[[Any], tuple[str, ...]]


def both(tests: list[Test]) -> Test:
    """All of them, in order, up to the first that fails."""
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        one, two = tests
        return lambda subject: one(subject) and two(subject)
    row = tuple(tests)

    def all_of(subject: Any) -> bool:
        for test in row:  # noqa: SIM110  # all() would make a generator for every failure
            if not test(subject):
                return False
        return True

    return all_of


def either(tests: list[Test]) -> Test:
    """Any of them, in order, up to the first that holds."""
    if len(tests) == 2:
        one, two = tests
        return lambda subject: one(subject) or two(subject)
    row = tuple(tests)

    def any_of(subject: Any) -> bool:
        for test in row:  # noqa: SIM110  # as above
            if test(subject):
                return True
        return False

    return any_of


def first(gets: list[Get]) -> Get:
    """The first value that is not missing."""
    *earlier, last = gets

    def found(subject: Any) -> Any:
        for get in earlier:
            value = get(subject)
            if not missing(value):
                return value
        return last(subject)

    return found


def equal(left: Get, right: Get, constant: Any, same: bool) -> Test:
    """Equality of two single values of one kind; false either way when one is missing."""
    if constant is not None:
        if same:
            return lambda subject: bool(left(subject) == constant)
        return lambda subject: (value := left(subject)) is not None and value != constant

    def compared(subject: Any) -> bool:
        a, b = left(subject), right(subject)
        return a is not None and b is not None and (a == b) is same

    return compared


def overlapping(
    left: Callable[[Any], frozenset[Any] | None], right: Callable[[Any], frozenset[Any] | None], same: bool
) -> Test:
    """Whether any on the left equals any on the right, or none does; false either way when one side is missing."""

    def compared(subject: Any) -> bool:
        a, b = left(subject), right(subject)
        return a is not None and b is not None and a.isdisjoint(b) is not same

    return compared


def among(texts: Texts, wanted: frozenset[Any], within: bool) -> Test:
    """Whether any of the texts is a wanted one, or none is; false either way when there are none."""
    if within:
        return lambda subject: not wanted.isdisjoint(texts(subject))
    return lambda subject: bool(found := texts(subject)) and wanted.isdisjoint(found)


def held(one: Callable[[Any], str | None], markers: tuple[str, ...]) -> Test:
    """Whether a text holds one of the markers."""
    if len(markers) == 1:
        (marker,) = markers
        return lambda subject: (text := one(subject)) is not None and marker in text
    holding = holds_any(markers)
    return lambda subject: (text := one(subject)) is not None and holding(text)


def holds_any(markers: tuple[str, ...]) -> TextTest:
    """Whether a text holds one of the markers."""
    if _are_many(markers):
        find = first_used(markers)
        return lambda text: bool(find(text))

    def holding(text: str) -> bool:
        for marker in markers:  # noqa: SIM110  # as above
            if marker in text:
                return True
        return False

    return holding


def _are_many(markers: tuple[str, ...]) -> bool:
    """Whether one pass over a text costs less than to look for each."""
    return len(markers) > SCAN_ABOVE and all(markers)


def guarded(contains: Contains, folded: Get | None, markers: tuple[str, ...]) -> Test:
    """Whether a field says that it holds one of the markers. Where the folded text is at hand, that is looked at first."""
    if folded is None:
        return lambda subject: any(contains(subject, marker) for marker in markers)
    if _are_many(markers):
        find = first_used(markers)
        return lambda subject: (
            (text := folded(subject)) is not None and any(contains(subject, marker) for marker in find(text))
        )

    def holds(subject: Any) -> bool:
        text = folded(subject)
        if text is None:
            return False
        for marker in markers:  # noqa: SIM110  # as above
            if marker in text and contains(subject, marker):
                return True
        return False

    return holds


def witnessed(test: Test, texts: Texts, regex: Regex, contains: Contains, own: Get | None = None) -> Test:
    """The same test, for which the field must also say that it holds something the pattern matched.

    `own` gives what of the field's texts counts, folded: the pattern must match there as well. None: all of it.
    """

    def counts(subject: Any) -> bool:
        left = None if own is None else own(subject)
        return left is None or any(map(regex.found, (left,) if isinstance(left, str) else left))

    def holds(subject: Any) -> bool:
        return (
            test(subject)
            and counts(subject)
            and any(contains(subject, match) for text in texts(subject) for match in regex.matches(text))
        )

    return holds


def behind(literals: Iterable[str], test: TextTest) -> TextTest:
    """The same test of a text, for which one of the literals must stand in it: looked at first, because that is cheap."""
    row = tuple(literals)

    def tested(text: str) -> bool:
        for literal in row:
            if literal in text:
                return test(text)
        return False

    return tested


def bordering(operator: str, wanted: str) -> TextTest:
    """The test of `starts with` and `ends with`."""
    if operator == "starts with":
        return lambda text: text.startswith(wanted)
    return lambda text: text.endswith(wanted)


def missing(value: Any) -> bool:
    """Nothing, or a list of nothing."""
    return value is None or (isinstance(value, list | tuple) and not value)


def numbers_of(value: Any) -> tuple[int | float, ...]:
    """The numbers among a JSON value: itself, or those of its elements. True and false are none."""
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(item for item in values if isinstance(item, int | float) and not isinstance(item, bool))


def texts_of(value: Any, raw: bool) -> tuple[str, ...]:
    """The texts among a value: itself, or those of its elements."""
    if isinstance(value, str):
        return (value if raw else fold(value),)
    if isinstance(value, list | tuple):
        return tuple(item if raw else fold(item) for item in value if isinstance(item, str))
    return ()


def keys_of(value: Any, raw: bool) -> frozenset[Any]:
    """The comparable values among a JSON value, such that equal keys mean equal values of one kind."""
    values = value if isinstance(value, list | tuple) else (value,)
    return frozenset(key for item in values if (key := _key(item, raw)) is not None)


def _key(value: Any, raw: bool) -> Any:
    if isinstance(value, str):
        return value if raw else fold(value)
    if isinstance(value, bool):
        return (value,)  # or true would equal 1
    if isinstance(value, float) and isnan(value):
        return None  # equals nothing, not even itself, which a set would overlook
    return value if isinstance(value, int | float) else None
