"""What a rule's conditions come to: which texts it wants, which veto it, and what else must hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from faultwise import dsl
from faultwise.dsl.nodes import And, Compare, List, ListName, Name, Node, Not, Or, Text

Lists = Mapping[str, tuple[str, ...]]
PROSE = frozenset({"text", "message", "body", "outer"})  # fields that hold sentences


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker as written: in which key, how far into its text."""

    folded: str
    path: tuple[str | int, ...]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a rule, all of which must hold."""

    groups: tuple[frozenset[str], ...]  # of each group, the text holds at least one
    vetoes: frozenset[str]  # of these, the text holds none
    others: tuple[Node, ...]  # everything else
    marks: tuple[Mark, ...]  # every marker that is wanted and written out, not by the name of its list
    nodes: tuple[Node, ...]  # `when`, taken apart
    waits: tuple[Node, ...]  # the expressions of `cooldown` and `retry_after`


def conditions(data: Mapping[str, Any], lists: Lists) -> Conditions:
    """Take a rule apart. Its expressions have been checked."""
    any_, all_, none = (_values(data.get(key, ())) for key in ("any", "all", "none"))
    groups = [_spread(any_, lists)] if any_ else []
    groups += [frozenset({marker}) for marker in sorted(_spread(all_, lists))]
    vetoes = set(_spread(none, lists))
    others = []
    nodes = dsl.conjuncts(dsl.parse(data["when"])) if "when" in data else ()
    for node in nodes:
        found = _wanted(node, lists)
        unwanted = _vetoed(node, lists)
        if found:
            groups += found
        elif unwanted:
            vetoes |= unwanted
        else:
            others.append(node)
    return Conditions(
        tuple(groups),
        frozenset(vetoes),
        tuple(others),
        (*_marks(data, "any"), *_marks(data, "all"), *(mark for node in nodes for mark in _marks_in(node))),
        nodes,
        tuple(dsl.parse(data[key]) for key in ("cooldown", "retry_after") if key in data),
    )


def walk(node: Node) -> Iterator[Node]:
    """A node and everything in it."""
    yield node
    for name in node.__dataclass_fields__:
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Node):
                yield from walk(part)


def _values(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _spread(values: tuple[str, ...], lists: Lists) -> frozenset[str]:
    """Markers, folded, with the lists that are named written out."""
    words: list[str] = []
    for value in values:
        words += lists[value[1:]] if value.startswith("@") else (value,)
    return frozenset(map(dsl.fold, words))


def _wanted(node: Node, lists: Lists) -> list[frozenset[str]]:
    """The groups that a condition on the text comes to; empty for any other condition."""
    match node:
        case Compare("has", Name("text"), Text(value)):
            return [frozenset({dsl.fold(value)})]
        case Compare("has any", Name("text"), values):
            return [frozenset(map(dsl.fold, _texts(values, lists)))]
        case Compare("has all", Name("text"), values):
            return [frozenset({marker}) for marker in sorted(map(dsl.fold, _texts(values, lists)))]
    return []


def _vetoed(node: Node, lists: Lists) -> frozenset[str]:
    match node:
        case Not(Compare("has", Name("text"), Text(value))):
            return frozenset({dsl.fold(value)})
        case Not(Compare("has any", Name("text"), values)):
            return frozenset(map(dsl.fold, _texts(values, lists)))
    return frozenset()


def _texts(node: Node, lists: Lists) -> tuple[str, ...]:
    if isinstance(node, ListName):
        return lists[node.name]
    return tuple(item.value for item in node.items if isinstance(item, Text)) if isinstance(node, List) else ()


def _marks(data: Mapping[str, Any], key: str) -> Iterator[Mark]:
    value = data.get(key, ())
    if isinstance(value, str):
        if not value.startswith("@"):
            yield Mark(dsl.fold(value), (key,))
        return
    for number, marker in enumerate(value):
        if not marker.startswith("@"):
            yield Mark(dsl.fold(marker), (key, number))


def _marks_in(node: Node) -> Iterator[Mark]:
    """The markers that an expression wants in a field that holds sentences."""
    match node:
        case Compare("has" | "has any" | "has all", Name(field), value) if field in PROSE:
            for item in value.items if isinstance(value, List) else (value,):
                if isinstance(item, Text):
                    yield Mark(dsl.fold(item.value), ("when",), item.span.start)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _marks_in(part)
