"""Nodes -> closures. What can be done once is done here: folding markers, binding keys, compiling regexes.

A closure takes the subject and never raises for anything a subject may hold. It presupposes a tree that `check` found
nothing wrong with; what cannot be compiled raises the KeyError or ValueError that the checker would have worded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

from .closures import (
    Test,
    TextTest,
    among,
    behind,
    bordering,
    both,
    either,
    equal,
    first,
    guarded,
    held,
    holds_any,
    keys_of,
    missing,
    numbers_of,
    overlapping,
    texts_of,
    witnessed,
)
from .fold import fold
from .functions import FUNCTIONS
from .infer import infer
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
    is_raw,
)
from .regex import Regex
from .required import required
from .types import NUMERIC, Contains, Environment, Field, Get, Lists, Type

_BORDERS: dict[str, Callable[[str, str], bool]] = {
    "has": operator.contains,
    "starts with": str.startswith,
    "ends with": str.endswith,
}
_ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def compile(node: Node, environment: Environment, lists: Lists) -> Get:
    """The function from a subject to the value of `node`: bool for a condition, float seconds or None for a duration."""
    compiler = _Compiler(environment, lists)
    return compiler.test(node) if infer(node, environment) is Type.BOOL else compiler.value(node)


class _Compiler:
    def __init__(self, environment: Environment, lists: Lists) -> None:
        self.environment = environment
        self.lists = lists

    # Conditions

    def test(self, node: Node) -> Test:
        match node:
            case And(conditions):
                return both([self.test(condition) for condition in conditions])
            case Or(conditions):
                return either([self.test(condition) for condition in conditions])
            case Not(condition):
                test = self.test(condition)
                return lambda subject: not test(subject)
            case Exists(value):
                get = self.value(value)
                return lambda subject: not missing(get(subject))
            case Compare():
                return self.compare(node)
        get = self.value(node)
        return lambda subject: bool(get(subject))

    def compare(self, node: Compare) -> Test:
        if node.operator in ("==", "!="):
            return self.equality(node)
        if node.operator in _ORDER:
            return self.order(node)
        if node.operator in ("in", "not in"):
            return self.membership(node)
        return self.textual(node)

    def equality(self, node: Compare) -> Test:
        same = node.operator == "=="
        left, right = self.kind(node.left), self.kind(node.right)
        raw = is_raw(node.left) or is_raw(node.right)
        if left is Type.STRING and right is Type.STRING:
            constant = _constant(node.right)
            if isinstance(constant, str) and not raw:
                constant = fold(constant)
            return equal(self.one(node.left, raw), self.one(node.right, raw), constant, same)
        if left is Type.STRINGS and isinstance(node.right, Text):
            wanted = node.right.value if raw else fold(node.right.value)
            return among(self.texts(node.left, raw), frozenset({wanted}), same)
        if Type.ANY not in (left, right) and Type.STRINGS not in (left, right):
            return equal(self.value(node.left), self.value(node.right), _constant(node.right), same)
        return overlapping(self.keys(node.left, raw), self.keys(node.right, raw), same)

    def order(self, node: Compare) -> Test:
        compare = _ORDER[node.operator]
        left, right = self.value(node.left), self.value(node.right)
        if Type.ANY in (self.kind(node.left), self.kind(node.right)):
            return lambda subject: any(
                compare(a, b) for a, b in product(numbers_of(left(subject)), numbers_of(right(subject)))
            )
        constant = _constant(node.right)
        if constant is not None:
            return lambda subject: (value := left(subject)) is not None and compare(value, constant)

        def ordered(subject: Any) -> bool:
            a, b = left(subject), right(subject)
            return a is not None and b is not None and compare(a, b)

        return ordered

    def membership(self, node: Compare) -> Test:
        raw = is_raw(node.left)
        wanted = frozenset(self.items(node.right, raw))
        within = node.operator == "in"
        kind = self.kind(node.left)
        if kind is Type.STRING or kind in NUMERIC:
            get = self.one(node.left, raw) if kind is Type.STRING else self.value(node.left)
            if within:
                return lambda subject: get(subject) in wanted
            return lambda subject: (value := get(subject)) is not None and value not in wanted
        if kind is Type.STRINGS:
            return among(self.texts(node.left, raw), wanted, within)
        keys = self.keys(node.left, raw)

        def member(subject: Any) -> bool:
            found = keys(subject)
            return found is not None and wanted.isdisjoint(found) != within

        return member

    def textual(self, node: Compare) -> Test:
        raw = is_raw(node.left) or is_raw(node.right)
        match node.operator:
            case "matches":
                assert isinstance(node.right, Pattern)
                return self.matches(node.left, raw, node.right.pattern)
            case "has any":
                return self.has(node.left, raw, tuple(dict.fromkeys(self.items(node.right, raw))))
            case "has all":
                return both([self.has(node.left, raw, (item,)) for item in dict.fromkeys(self.items(node.right, raw))])
        if isinstance(node.right, Text):
            wanted = node.right.value if raw else fold(node.right.value)
            if node.operator == "has":
                return self.has(node.left, raw, (wanted,))
            return self.some(node.left, raw, bordering(node.operator, wanted))
        return self.pairwise(node, raw)

    def matches(self, node: Node, raw: bool, pattern: str) -> Test:
        """Whether a pattern matches. A field that answers `has` itself is asked about what was matched as well."""
        regex = Regex(pattern, folded=not raw)
        literals = None if raw else required(pattern)
        test = self.some(node, raw, behind(literals, regex.found) if literals else regex.found)
        contains = self.guard(node, raw)
        if contains is None:
            return test
        assert isinstance(node, Name)  # only a field answers `has` itself
        return witnessed(test, self.texts(node, raw), regex, contains, self.environment.fields[node.name].own)

    def guard(self, node: Node, raw: bool) -> Contains | None:
        """What a field answers `has` with, where it does that itself."""
        field = self.environment.fields.get(node.name) if isinstance(node, Name) and not raw else None
        return field.contains if field is not None else None

    def has(self, node: Node, raw: bool, wanted: tuple[str, ...]) -> Test:
        """Whether the text, or one of the texts, holds one of the markers."""
        field = self.environment.fields.get(node.name) if isinstance(node, Name) and not raw else None
        if field is not None and field.contains is not None:
            return guarded(field.contains, _one_text(field), wanted)
        if self.kind(node) is Type.STRING:
            return held(self.one(node, raw), wanted)
        return self.some(node, raw, holds_any(wanted))

    def pairwise(self, node: Compare, raw: bool) -> Test:
        """`has`, `starts with` and `ends with` where what is looked for is known only then. Nothing holds the empty text."""
        lefts, rights = self.texts(node.left, raw), self.texts(node.right, raw)
        contains = self.guard(node.left, raw)
        if node.operator == "has" and contains is not None:
            return lambda subject: any(contains(subject, marker) for marker in rights(subject) if marker)
        compare = _BORDERS[node.operator]
        return lambda subject: any(
            compare(text, marker) for text, marker in product(lefts(subject), rights(subject)) if marker
        )

    def some(self, node: Node, raw: bool, test: TextTest) -> Test:
        """Whether the text, or one of the texts, passes `test`."""
        if self.kind(node) is Type.STRING:
            get = self.one(node, raw)
            return lambda subject: (text := get(subject)) is not None and test(text)
        texts = self.texts(node, raw)
        return lambda subject: any(map(test, texts(subject)))

    # Values

    def value(self, node: Node) -> Get:
        match node:
            case Number(value) | Text(value) | Truth(value) | Duration(value):
                return lambda subject: value
            case Name(name):
                return self.environment.fields[name].get
            case Entry(name, key):
                return self.environment.keyed[name].bind(key)
            case Call():
                return self.call(node)
            case Lookup(Call(name, (text, Text(separator), Text(equals))), key):
                source, wanted, apply = self.value(text), self.value(key), FUNCTIONS[name].apply
                return lambda subject: apply(source(subject), separator, equals, wanted(subject))
            case Until():
                return self.until(node)
            case Else(options):
                return first([self.value(option) for option in options])
        return self.test(node)

    def call(self, node: Call) -> Get:
        apply = FUNCTIONS[node.name].apply
        if len(node.arguments) == 1:
            only = self.value(node.arguments[0])
            return lambda subject: apply(only(subject))
        if isinstance(node.arguments[1], Pattern):
            raw = is_raw(node.arguments[0])
            texts, regex = self.texts(node.arguments[0], raw), Regex(node.arguments[1].pattern, folded=not raw)
            return lambda subject: apply(texts(subject), regex)
        values = [self.value(argument) for argument in node.arguments]
        return lambda subject: apply(*[value(subject) for value in values])

    def until(self, node: Until) -> Get:
        now, fixed = self.environment.fields["now"].get, node.clock
        reset = None if fixed else self.environment.fields["reset"].get

        def until(subject: Any) -> float | None:
            moment = now(subject)
            clock = reset(subject) if reset else fixed
            at = None if moment is None or clock is None else clock.next(moment)
            return None if at is None else at - moment

        return until

    # Texts: one, or several of which any may do; folded, unless `raw`

    def one(self, node: Node, raw: bool) -> Callable[[Any], str | None]:
        match node:
            case Text(value):
                constant = value if raw else fold(value)
                return lambda subject: constant
            case Call("raw", (inner,)):
                return self.one(inner, raw)
            case Name(name) if not raw and (folded := self.environment.fields[name].folded):
                return folded
            case Else(options):
                return first([self.one(option, raw) for option in options])
        get = self.value(node)
        return get if raw else lambda subject: None if (text := get(subject)) is None else fold(text)

    def texts(self, node: Node, raw: bool) -> Callable[[Any], tuple[str, ...]]:
        kind = self.kind(node)
        if kind is Type.STRING:
            one = self.one(node, raw)
            return lambda subject: () if (text := one(subject)) is None else (text,)
        match node:
            case Call("raw", (inner,)):
                return self.texts(inner, raw)
            case Name(name) if not raw and (folded := self.environment.fields[name].folded):
                return lambda subject: folded(subject) or ()
            case Else(options) if kind is Type.STRINGS:
                each = [self.texts(option, raw) for option in options]
                return lambda subject: next((found for texts in each if (found := texts(subject))), ())
        get = self.value(node)
        return lambda subject: texts_of(get(subject), raw)

    def keys(self, node: Node, raw: bool) -> Callable[[Any], frozenset[Any] | None]:
        """What `==` compares: folded texts, numbers, truths, each comparing with its kind only. None when missing."""
        kind = self.kind(node)
        if kind is Type.STRINGS or kind is Type.STRING:
            texts = self.texts(node, raw)
            return lambda subject: frozenset(texts(subject)) or None
        get = self.value(node)
        constant = _constant(node)
        if constant is not None:
            fixed = keys_of(constant, raw)
            return lambda subject: fixed
        return lambda subject: None if missing(value := get(subject)) else keys_of(value, raw)

    def items(self, node: Node, raw: bool) -> list[Any]:
        """The constants of a list, by name or written out."""
        if isinstance(node, ListName):
            values: list[Any] = list(self.lists[node.name])
        else:
            assert isinstance(node, List)
            values = [_constant(item) for item in node.items]
        return values if raw else [fold(value) if isinstance(value, str) else value for value in values]

    def kind(self, node: Node) -> Type | None:
        return infer(node, self.environment)


def _one_text(field: Field) -> Get | None:
    """The getter of a field's folded text, of a list of texts a line each: no folded marker spans two."""
    folded = field.folded
    if folded is None or field.type is Type.STRING:
        return folded
    return lambda subject: "\n".join(folded(subject) or ())


def _constant(node: Node) -> Any:
    """What a literal says; None for everything else."""
    match node:
        case Number(value) | Text(value) | Truth(value) | Duration(value):
            return value
    return None
