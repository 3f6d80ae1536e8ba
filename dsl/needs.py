"""What a text must hold for a condition to have a chance, so that one scan can leave most rules out."""

from __future__ import annotations

from types import MappingProxyType

from .fold import fold
from .nodes import And, Compare, List, ListName, Name, Node, Or, Text
from .types import Lists

_NO_LISTS: Lists = MappingProxyType({})


def needs(node: Node, field: str = "text", lists: Lists = _NO_LISTS) -> frozenset[str] | None:
    """Folded markers of which `field` holds at least one whenever `node` is true; None where there is no such set."""
    match node:
        case And(conditions):
            sets = [found for condition in conditions if (found := needs(condition, field, lists)) is not None]
            return min(sets, key=len, default=None)
        case Or(conditions):
            return _union([needs(condition, field, lists) for condition in conditions])
        case Compare("has", Name(name), Text(value)) if name == field:
            return frozenset({fold(value)})
        case Compare("has any", Name(name), values) if name == field:
            return frozenset(map(fold, _texts(values, lists)))
        case Compare("has all", Name(name), values) if name == field:
            return frozenset({max(map(fold, _texts(values, lists)), key=len)})
    return None


def _union(sets: list[frozenset[str] | None]) -> frozenset[str] | None:
    found = [markers for markers in sets if markers is not None]
    return frozenset().union(*found) if len(found) == len(sets) else None


def _texts(node: Node, lists: Lists) -> tuple[str, ...]:
    if isinstance(node, ListName):
        return lists[node.name]
    assert isinstance(node, List)
    return tuple(item.value for item in node.items if isinstance(item, Text))
