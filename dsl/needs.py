"""What must be there for a condition to have a chance, so that one scan of a text can leave most rules out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

from .fold import fold
from .nodes import And, Call, Compare, Entry, Exists, List, ListName, Lookup, Name, Node, Or, Pattern, Text
from .required import required
from .types import Lists

_NO_LISTS: Lists = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Needs:
    """Whenever the condition holds, the text holds one of the markers, folded, or one of the values is there."""

    markers: frozenset[str] = frozenset()
    values: frozenset[Name | Entry] = frozenset()


def needs(
    node: Node, within: Iterable[str] = ("text",), values: Iterable[str] = (), lists: Lists = _NO_LISTS
) -> Needs | None:
    """What `node` needs; None where nothing is known of it.

    `within` are the fields of which the text holds everything, folded; `values` those fields, with or without a key,
    of which it is cheap to tell whether they are there. Where markers will do, values are not asked for.
    """
    return _Finder(frozenset(within), frozenset(values), lists).needs(node)


@dataclass(frozen=True, slots=True)
class _Finder:
    within: frozenset[str]
    values: frozenset[str]
    lists: Lists

    def needs(self, node: Node) -> Needs | None:
        match node:
            case And(conditions):
                found = [one for one in map(self.needs, conditions) if one is not None]
                return min(found, key=lambda one: (len(one.values) > 0, len(one.markers)), default=None)
            case Or(conditions):
                return _either(list(map(self.needs, conditions)))
            case Exists(value):
                return self.present(value)
            case Compare(operator, left, right):
                markers = self.markers(operator, left, right)
                # no comparison holds with what is missing, not even `!=`
                return _marked(markers) or self.present(left)
        return None

    def markers(self, operator: str, left: Node, right: Node) -> Iterable[str] | None:
        """Texts of which the left side holds one when the comparison holds."""
        if not isinstance(left, Name) or left.name not in self.within:
            return None
        match operator, right:
            case "matches", Pattern(pattern):
                return required(pattern)
            case (("==" | "has" | "starts with" | "ends with"), Text(value)):
                return (fold(value),)
            case (("in" | "has any"), (List() | ListName())):
                return map(fold, _texts(right, self.lists))
            case "has all", (List() | ListName()):
                return (max(map(fold, _texts(right, self.lists)), key=len),)
        return None

    def present(self, node: Node) -> Needs | None:
        """What a value needs to be there."""
        match node:
            case Name(name) | Entry(name) if name in self.values:
                return Needs(values=frozenset({node}))
            case Call("number", (Name(name), Pattern(pattern))) if name in self.within:
                return _marked(required(pattern))
            case Call(_, (value, *_)) | Lookup(value):
                return self.present(value)  # functions give nothing for nothing
        return None


def _marked(markers: Iterable[str] | None) -> Needs | None:
    found = frozenset(markers or ())
    return Needs(found) if found and all(found) else None


def _either(parts: list[Needs | None]) -> Needs | None:
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    return Needs(
        frozenset[str]().union(*(part.markers for part in found)),
        frozenset[Name | Entry]().union(*(part.values for part in found)),
    )


def _texts(node: List | ListName, lists: Lists) -> tuple[str, ...]:
    if isinstance(node, ListName):
        return lists[node.name]
    return tuple(item.value for item in node.items if isinstance(item, Text))
