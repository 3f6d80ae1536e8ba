"""The tree of an expression: one frozen dataclass per construct, each with the span it was written at.

Equality leaves spans out: two nodes are equal when they mean the same words, wherever those stood.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .clock import Clock


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets into a text: from `start` up to, not including, `end`. Of a whole expression, `text` is what was written."""

    start: int
    end: int
    text: str = field(default="", compare=False, repr=False)


NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Node:
    """A construct of the language."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """`429`, `1.5`"""

    value: int | float


@dataclass(frozen=True, slots=True)
class Text(Node):
    """`"insufficient quota"`"""

    value: str


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """`true`, `false`"""

    value: bool


@dataclass(frozen=True, slots=True)
class Duration(Node):
    """`1h30m`"""

    seconds: float


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """`/requested (\\d+)/`, without the slashes and with `\\/` undone."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A field: `status`"""

    name: str


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """A field with a key: `header["retry-after"]`"""

    name: str
    key: str
    key_span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class List(Node):
    """`["a", "b"]`"""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListName(Node):
    """`@quota_words`, without the `@`."""

    name: str


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`number(header["x"])`"""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Lookup(Node):
    """`pairs(header["x"], ",", "=")[model]`"""

    pairs: Node
    key: Node


@dataclass(frozen=True, slots=True)
class Until(Node):
    """`until 08:00 Asia/Shanghai`; without a clock of its own, `until reset`."""

    clock: Clock | None


@dataclass(frozen=True, slots=True)
class Else(Node):
    """`a else b else c`: the first that is not missing."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """`left operator right`, the operator as one of `OPERATORS`."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """`header["retry-after"] exists`"""

    value: Node


@dataclass(frozen=True, slots=True)
class Not(Node):
    """`not condition`"""

    condition: Node


@dataclass(frozen=True, slots=True)
class And(Node):
    """`a and b and c`"""

    conditions: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    """`a or b or c`"""

    conditions: tuple[Node, ...]


EQUALITY = ("==", "!=")
ORDER = ("<", "<=", ">", ">=")
MEMBERSHIP = ("in", "not in")
TEXTUAL = ("has", "has any", "has all", "starts with", "ends with", "matches")
OPERATORS = (*EQUALITY, *ORDER, *MEMBERSHIP, *TEXTUAL)


def is_raw(node: Node) -> bool:
    """Whether `node` is `raw(…)`, which keeps the operator beside it from folding."""
    return isinstance(node, Call) and node.name == "raw"


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The conditions that must all hold for `node` to hold: its top-level `and`, taken apart."""
    if not isinstance(node, And):
        return (node,)
    return tuple(part for condition in node.conditions for part in conjuncts(condition))


def markers(field: str, quantifier: str, values: tuple[str, ...], spans: tuple[Span, ...] = ()) -> Node:
    """The condition that a rule's `any:`, `all:` or `none:` states about a field, as if it had been written out.

    `spans` are those of the values, in their order, or empty.
    """
    places = spans or (NOWHERE,) * len(values)
    items = tuple(Text(value, span=span) for value, span in zip(values, places, strict=True))
    span = Span(places[0].start, places[-1].end) if places else NOWHERE
    operator = {"any": "has any", "all": "has all", "none": "has any"}[quantifier]
    node = Compare(operator, Name(field, span=span), List(items, span=span), span=span)
    return Not(node, span=span) if quantifier == "none" else node
