"""What to do about it: the help below the checker's messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from .nodes import Compare, List, ListName, Number, Text
from .types import NUMERIC, TEXTUAL, Type

FEW = 8  # names that are listed where none resembles the one in question


def suggestion(word: str, known: Iterable[str], sign: str = "") -> str:
    """The known name that was probably meant, or all of them if they are few."""
    names = sorted(known)
    near = get_close_matches(word, names, 1, 0.6)
    if near:
        return f"did you mean `{sign}{near[0]}`?"
    return "known are " + ", ".join(f"`{sign}{name}`" for name in names) if 0 < len(names) <= FEW else ""


def towards(expected: Type, kind: Type) -> str:
    """How to get from a value of the type `kind` to what is expected."""
    if expected is Type.BOOL:
        return "compare it with something, or ask whether it `exists`"
    if expected is Type.DURATION and kind in NUMERIC:
        return "a duration has a unit: write, say, `60s`"
    if expected is Type.DURATION and kind in TEXTUAL:
        return "write `seconds(…)` around it"
    return ""


def bridge(node: Compare, left: Type, right: Type) -> str:
    """How the two sides of a comparison could be made to compare."""
    kinds = {left, right}
    if isinstance(node.right, List | ListName):
        return _to_items(left)
    if Type.DURATION in kinds:
        return towards(Type.DURATION, left if right is Type.DURATION else right)
    if kinds & NUMERIC and kinds & TEXTUAL:
        for side in (node.left, node.right):
            if isinstance(side, Text) and side.value.isdecimal():
                return f"write `{side.value}` without the quotes"
            if isinstance(side, Number):
                return f'write `"{side.value}"`, or `number(…)` around the text'
        return "write `number(…)` around the text"
    return "write `number(…)` around it" if kinds <= TEXTUAL else ""


def _to_items(kind: Type) -> str:
    if kind in TEXTUAL:
        return "put the numbers into double quotes"
    return "write the numbers without quotes" if kind in NUMERIC else ""
