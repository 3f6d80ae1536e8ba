"""Nodes -> canonical text: one spelling for each tree, brackets only where they are needed."""

from __future__ import annotations

import json
import re
from decimal import Decimal

from .duration import spell
from .nodes import (
    And,
    Call,
    Compare,
    Duration,
    Else,
    Entry,
    Exists,
    List,
    ListName,
    Lookup,
    Name,
    Node,
    Not,
    Number,
    Or,
    Pattern,
    Text,
    Truth,
    Until,
)

# How loosely a construct holds together; one inside another needs brackets where it is looser than its place allows.
_OR, _AND, _CONDITION, _ELSE, _OPERAND = range(5)
_LOOSENESS: dict[type[Node], int] = {
    Or: _OR,
    And: _AND,
    Not: _CONDITION,
    Compare: _CONDITION,
    Exists: _CONDITION,
    Else: _ELSE,
}


def source(node: Node) -> str:
    """The canonical text: `parse(source(node)) == node`."""
    return _write(node, _OR)


def _write(node: Node, place: int) -> str:
    text = _text(node)
    return f"({text})" if _LOOSENESS.get(type(node), _OPERAND) < place else text


def _text(node: Node) -> str:
    match node:
        case Or(conditions):
            return " or ".join(_write(condition, _AND) for condition in conditions)
        case And(conditions):
            return " and ".join(_write(condition, _CONDITION) for condition in conditions)
        case Not(condition):
            return f"not {_write(condition, _CONDITION)}"
        case Compare(operator, left, right):
            return f"{_write(left, _ELSE)} {operator} {_write(right, _ELSE)}"
        case Exists(value):
            return f"{_write(value, _ELSE)} exists"
        case Else(options):
            return " else ".join(_write(option, _OPERAND) for option in options)
        case Call(name, arguments):
            return f"{name}({_row(arguments)})"
        case Lookup(pairs, key):
            return f"{_write(pairs, _OPERAND)}[{_write(key, _OR)}]"
        case List(items):
            return f"[{_row(items)}]"
    return _atom(node)


def _atom(node: Node) -> str:
    match node:
        case Number(value):
            return format(Decimal(repr(value)), "f")
        case Text(value):
            return _quoted(value)
        case Truth(value):
            return "true" if value else "false"
        case Duration(seconds):
            return spell(seconds)
        case Pattern(pattern):
            return "/" + re.sub(r"\\.|/", lambda part: "\\/" if part[0] == "/" else part[0], pattern) + "/"
        case Name(name):
            return name
        case Entry(name, key):
            return f"{name}[{_quoted(key)}]"
        case ListName(name):
            return f"@{name}"
        case Until(clock):
            return f"until {clock or 'reset'}"
    raise TypeError(f"{type(node).__name__} is not a construct of the language")


def _row(nodes: tuple[Node, ...]) -> str:
    return ", ".join(_write(node, _OR) for node in nodes)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
