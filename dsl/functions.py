"""The built-in functions: how they are called, what they give, what they do. None stands for missing, in and out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .duration import bounded, stated
from .fold import fold
from .regex import Regex
from .types import NUMERIC, TEXTUAL, Type, unify


@dataclass(frozen=True, slots=True)
class Function:
    """A built-in. `accepts` lists the types of each parameter, the last one for all that follow; `most` None: no end.

    `result` None means the type that covers the arguments'.
    """

    name: str
    signatures: tuple[str, ...]
    doc: str
    accepts: tuple[frozenset[Type], ...]
    least: int
    most: int | None
    result: Type | None
    apply: Callable[..., Any]

    @property
    def usage(self) -> str:
        """The ways to call it, as messages give them."""
        return "write " + " or ".join(f"`{signature}`" for signature in self.signatures)

    def type_of(self, arguments: tuple[Type, ...]) -> Type | None:
        """The type of a call; None when the arguments do not go together."""
        return self.result or unify(arguments)


def number(value: Any, regex: Regex | None = None) -> int | float | None:
    """The number that `value` is or spells, or that `regex` captures in it; of a list, the first that has one."""
    for item in _each(value):
        if isinstance(item, str):
            text = item if regex is None else regex.captured(item)
            found = None if text is None else _spelled(text)
        else:
            found = item if regex is None and _is_number(item) else None
        if found is not None:
            return found
    return None


def seconds(value: Any) -> float | None:
    """The duration that `value` states: a number of seconds or a text; of a list, the first that states one."""
    for item in _each(value):
        found = None
        if isinstance(item, str):
            found = stated(item)
        elif _is_number(item):
            found = bounded(item)
        if found is not None:
            return float(found)
    return None


def lookup(value: Any, separator: str, equals: str, key: str | None) -> str | None:
    """What `value`, a text such as `a=1, b=2`, holds for `key`, compared folded. The first such pair counts."""
    if key is None:
        return None
    wanted = fold(key)
    for text in _each(value):
        for pair in text.split(separator) if isinstance(text, str) else ():
            place = pair.find(equals)
            while place >= 0:  # a model's name may hold the sign: the key may end at any of them
                if fold(pair[:place]) == wanted:
                    return str(pair[place + len(equals) :].strip())
                place = pair.find(equals, place + 1)
    return None


def _smallest(*values: Any) -> Any:
    return None if None in values else min(values)


def _largest(*values: Any) -> Any:
    return None if None in values else max(values)


_QUANTITIES = NUMERIC | {Type.DURATION}
_STRING, _REGEX = frozenset({Type.STRING}), frozenset({Type.REGEX})

FUNCTIONS = {
    function.name: function
    for function in (
        Function(
            "raw",
            ("raw(text)",),
            "the text as it was sent, so that the operator beside it does not fold",
            (TEXTUAL,),
            1,
            1,
            None,
            lambda value: value,
        ),
        Function(
            "number",
            ("number(value)", "number(text, /regex with a (group)/)"),
            "the number a value is or spells, or the one captured in a text",
            (TEXTUAL | NUMERIC, _REGEX),
            1,
            2,
            Type.FLOAT,
            number,
        ),
        Function(
            "seconds",
            ("seconds(value)",),
            "the duration a value states: a number of seconds, or a text such as `6m0s` or `30 seconds`",
            (TEXTUAL | _QUANTITIES,),
            1,
            1,
            Type.DURATION,
            seconds,
        ),
        Function(
            "pairs",
            ('pairs(text, ",", "=")[key]',),
            "the text that a list of pairs holds for a key",
            (TEXTUAL, _STRING, _STRING),
            3,
            3,
            Type.PAIRS,
            lookup,
        ),
        Function("min", ("min(a, b, …)",), "the smallest; missing if one is", (_QUANTITIES,), 2, None, None, _smallest),
        Function("max", ("max(a, b, …)",), "the largest; missing if one is", (_QUANTITIES,), 2, None, None, _largest),
    )
}

_SPELLED = re.compile(r"[+-]?(?:[0-9]{1,30}|[0-9]{1,3}(?:,[0-9]{3}){1,9})(\.[0-9]{1,30})?")


def _spelled(text: str) -> int | float | None:
    """`12`, `-3`, `1.5`, `1,234,567`; full-width digits too."""
    folded = fold(text)
    match = _SPELLED.fullmatch(folded)
    if not match:
        return None
    digits = folded.replace(",", "")
    return float(digits) if match[1] else int(digits)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _each(value: Any) -> Iterator[Any]:
    """The elements of a list, or the value itself."""
    if isinstance(value, list | tuple):
        yield from value
    elif value is not None:
        yield value
