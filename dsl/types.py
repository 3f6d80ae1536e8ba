"""The types of the language and which of them go together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Type(Enum):
    """What a value can be; the value of a member is how messages call it.

    A field has one of the first seven. The last three are what lists, regexes and `pairs(…)` are until an operator or
    a look-up takes them.
    """

    INT = "a whole number"
    FLOAT = "a number"
    STRING = "a text"
    BOOL = "a condition"
    DURATION = "a duration"
    STRINGS = "a list of texts"  # compared by its elements: one that holds is enough
    ANY = "a JSON value"  # known only when it is there: text, number, true or false, object, or a list of them
    LIST = "a list"
    REGEX = "a regex"
    PAIRS = "a set of pairs"


NUMERIC = frozenset({Type.INT, Type.FLOAT})
TEXTUAL = frozenset({Type.STRING, Type.STRINGS, Type.ANY})
VALUES = NUMERIC | TEXTUAL | {Type.BOOL, Type.DURATION}


def equatable(left: Type, right: Type) -> bool:
    """Whether `==` and `!=` may stand between the two."""
    kinds = {left, right}
    if Type.ANY in kinds:
        return kinds <= NUMERIC | TEXTUAL | {Type.BOOL}
    return kinds <= NUMERIC or kinds <= TEXTUAL or kinds in ({Type.BOOL}, {Type.DURATION})


def orderable(left: Type, right: Type) -> bool:
    """Whether `<`, `<=`, `>` and `>=` may stand between the two."""
    kinds = {left, right}
    return kinds <= NUMERIC | {Type.ANY} or kinds == {Type.DURATION}


def unify(kinds: tuple[Type, ...]) -> Type | None:
    """The type of a value that is one of several, as after `else`; None when nothing covers them all."""
    found = set(kinds)
    if len(found) == 1:
        (only,) = found
        return only if only in VALUES else None
    if found <= NUMERIC:
        return Type.FLOAT
    if Type.ANY in found and found <= NUMERIC | {Type.ANY, Type.STRING, Type.BOOL}:
        return Type.ANY
    return None


Get = Callable[[Any], Any]
Contains = Callable[[Any, str], bool]


@dataclass(frozen=True, slots=True)
class Field:
    """A name an expression may use. Getters take the subject; None, and an empty list of texts, mean missing.

    `folded` gives the same value already folded, where the subject keeps it. `contains`, where given, answers `has`
    for a folded marker, and must agree to what a regex matched; of a text with `folded` it is asked only about what
    stands in it. `own`, where given, is the folded value without what does not count: a regex must
    match there too. None: all of it counts.
    """

    type: Type
    get: Get
    folded: Get | None = None
    contains: Contains | None = None
    doc: str = ""
    own: Get | None = None


@dataclass(frozen=True, slots=True)
class Keyed:
    """A name that takes a key, as `header["retry-after"]` does.

    `bind` turns the key into a getter once, when the expression is checked or compiled; it raises ValueError, in words
    for the author, for a key that cannot be one.
    """

    type: Type
    bind: Callable[[str], Get]
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """What expressions may mention. The fields `now` (seconds since the epoch) and `reset` (a Clock) serve `until`."""

    fields: Mapping[str, Field]
    keyed: Mapping[str, Keyed]


Lists = Mapping[str, tuple[str, ...]]
