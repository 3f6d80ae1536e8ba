"""The language, evaluated as it is defined: no types, no preparation, every word looked at anew for every subject.

Written from the definition, not from the compiler; whatever the two disagree about is a mistake in one of them.
"""

from __future__ import annotations

from itertools import product
from typing import Any
from unicodedata import normalize

import re2

from faultwise.dsl.duration import stated
from faultwise.dsl.nodes import (
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

from .world import ENVIRONMENT, Subject


def evaluate(node: Node, subject: Subject, lists: dict[str, tuple[str, ...]]) -> Any:
    match node:
        case And(conditions):
            return all(evaluate(condition, subject, lists) for condition in conditions)
        case Or(conditions):
            return any(evaluate(condition, subject, lists) for condition in conditions)
        case Not(condition):
            return not evaluate(condition, subject, lists)
        case Exists(value):
            return not is_missing(evaluate(value, subject, lists))
        case Compare(operator, left, right):
            return compare(operator, left, right, subject, lists)
        case Else(options):
            values = [evaluate(option, subject, lists) for option in options]
            return next((value for value in values if not is_missing(value)), values[-1])
        case Name(name):
            return ENVIRONMENT.fields[name].get(subject)
        case Entry(name, key):
            return ENVIRONMENT.keyed[name].bind(key)(subject)
        case Number(value) | Text(value) | Truth(value) | Duration(value):
            return value
        case Until(clock):
            clock = clock or subject.get("reset")
            now = subject.get("now")
            return None if clock is None or now is None else clock.next(now) - now
        case Lookup(Call("pairs", (text, Text(separator), Text(equals))), key):
            return look_up(evaluate(text, subject, lists), separator, equals, evaluate(key, subject, lists))
        case Call("raw", (argument,)):
            return evaluate(argument, subject, lists)
        case Call("number", (argument,)):
            return first(to_number, evaluate(argument, subject, lists))
        case Call("number", (argument, Pattern(pattern))):
            raw = is_raw(argument)
            return first(lambda text: captured(pattern, text, raw), evaluate(argument, subject, lists))
        case Call("seconds", (argument,)):
            return first(to_seconds, evaluate(argument, subject, lists))
        case Call("min" | "max" as name, arguments):
            values = [evaluate(argument, subject, lists) for argument in arguments]
            return None if None in values else {"min": min, "max": max}[name](values)
    raise AssertionError(node)


def compare(operator: str, left: Node, right: Node, subject: Subject, lists: dict[str, tuple[str, ...]]) -> bool:
    raw = is_raw(left) or is_raw(right)
    value = evaluate(left, subject, lists)
    if operator == "matches":
        flags = "" if raw else "(?i)"
        field = ENVIRONMENT.fields.get(left.name) if isinstance(left, Name) and not raw else None
        found = [
            match.group() for text in texts(value) for match in re2.finditer(flags + right.pattern, form(text, raw))
        ]
        return any(field.contains(subject, match) for match in found) if field and field.contains else bool(found)
    if isinstance(right, ListName):
        other: Any = list(lists[right.name])
    elif isinstance(right, List):
        other = [item.value for item in right.items]
    else:
        other = evaluate(right, subject, lists)
    if is_missing(value) or is_missing(other):
        return False
    pairs = list(product(elements(value), elements(other)))
    if operator in ("==", "in"):
        return any(same(a, b, raw) for a, b in pairs)
    if operator in ("!=", "not in"):
        return not any(same(a, b, raw) for a, b in pairs)
    if operator in ("<", "<=", ">", ">="):
        return any(ordered(operator, a, b) for a, b in pairs)
    if operator == "has all":
        return all(holds("has", left, value, [item], raw, subject) for item in other)
    return holds("has" if operator == "has any" else operator, left, value, other, raw, subject)


def holds(operator: str, left: Node, value: Any, markers: Any, raw: bool, subject: Subject) -> bool:
    wanted = [form(marker, raw) for marker in texts(markers) if form(marker, raw)]
    field = ENVIRONMENT.fields.get(left.name) if isinstance(left, Name) else None
    if operator == "has" and field and field.contains and not raw:
        return any(field.contains(subject, marker) for marker in wanted)
    for text, marker in product(texts(value), wanted):
        folded = form(text, raw)
        if operator == "has" and folded.find(marker) >= 0:
            return True
        if operator == "starts with" and folded[: len(marker)] == marker:
            return True
        if operator == "ends with" and folded[-len(marker) :] == marker:
            return True
    return False


def same(a: Any, b: Any, raw: bool) -> bool:
    if isinstance(a, str) and isinstance(b, str):
        return form(a, raw) == form(b, raw)
    return kind(a) == kind(b) and kind(a) in ("truth", "number") and a == b


def ordered(operator: str, a: Any, b: Any) -> bool:
    if kind(a) != "number" or kind(b) != "number":
        return False
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | float) else type(value).__name__


def elements(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def texts(value: Any) -> list[str]:
    return [item for item in elements(value) if isinstance(item, str)]


def is_missing(value: Any) -> bool:
    return value is None or value == [] or value == ()


def is_raw(node: Node) -> bool:
    return isinstance(node, Call) and node.name == "raw"


def form(text: str, raw: bool) -> str:
    if raw:
        return text
    while (folded := " ".join(normalize("NFKC", normalize("NFKC", text).casefold()).split())) != text:
        text = folded
    return text


def first(convert: Any, value: Any) -> Any:
    found = [convert(item) for item in elements(value)]
    return next((item for item in found if item is not None), None)


def to_number(value: Any) -> Any:
    if kind(value) == "number":
        return value
    if not isinstance(value, str):
        return None
    text = form(value, raw=False)
    digits = text.replace(",", "")
    if "," in text and not re2.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", text):
        return None
    if re2.fullmatch(r"[+-]?\d+", digits):
        return int(digits)
    return float(digits) if re2.fullmatch(r"[+-]?\d+\.\d+", digits) else None


def captured(pattern: str, value: Any, raw: bool) -> Any:
    if not isinstance(value, str):
        return None
    match = re2.search(pattern if raw else "(?i)" + pattern, form(value, raw))
    groups = [group for group in match.groups() if group is not None] if match else []
    return to_number(groups[0]) if groups else None


def to_seconds(value: Any) -> Any:
    if isinstance(value, str):
        return stated(value)
    return float(value) if kind(value) == "number" and 0 <= value <= 10 * 365 * 86_400 else None


def look_up(value: Any, separator: str, equals: str, key: Any) -> Any:
    if key is None:
        return None
    for text in texts(value):
        for pair in text.split(separator):
            parts = pair.split(equals)
            for cut in range(1, len(parts)):
                if form(equals.join(parts[:cut]), raw=False) == form(key, raw=False):
                    return equals.join(parts[cut:]).strip()
    return None
