"""The type of a node, taken for granted that it was checked; None where it has none."""

from __future__ import annotations

from .functions import FUNCTIONS
from .nodes import (
    Call,
    Duration,
    Else,
    Entry,
    List,
    ListName,
    Lookup,
    Name,
    Node,
    Number,
    Pattern,
    Text,
    Until,
)
from .types import Environment, Type, unify

_FIXED: dict[type[Node], Type] = {
    Text: Type.STRING,
    Lookup: Type.STRING,
    Duration: Type.DURATION,
    Until: Type.DURATION,
    Pattern: Type.REGEX,
    List: Type.LIST,
    ListName: Type.LIST,
}


def infer(node: Node, environment: Environment) -> Type | None:
    """The type of `node` among the names of `environment`."""
    match node:
        case Number(value):
            return Type.INT if isinstance(value, int) else Type.FLOAT
        case Name(name):
            field = environment.fields.get(name)
            return field.type if field else None
        case Entry(name):
            keyed = environment.keyed.get(name)
            return keyed.type if keyed else None
        case Call(name, arguments):
            function = FUNCTIONS.get(name)
            kinds = _all(arguments, environment)
            return function.type_of(kinds) if function and kinds else None
        case Else(options):
            kinds = _all(options, environment)
            return unify(kinds) if kinds else None
    return _FIXED.get(type(node), Type.BOOL)


def _all(nodes: tuple[Node, ...], environment: Environment) -> tuple[Type, ...] | None:
    kinds = tuple(kind for node in nodes if (kind := infer(node, environment)))
    return kinds if len(kinds) == len(nodes) else None
