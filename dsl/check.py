"""Nodes x environment -> problems. Reports all of them, and never evaluates."""

from __future__ import annotations

from .errors import DslError
from .functions import FUNCTIONS, Function
from .hints import bridge, suggestion, towards
from .infer import infer
from .literals import SHORTEST_MARKER, Complaint, about_marker, about_regex, about_statuses
from .nodes import (
    EQUALITY,
    MEMBERSHIP,
    ORDER,
    And,
    Call,
    Compare,
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
    Span,
    Text,
    Until,
    is_raw,
)
from .types import NUMERIC, TEXTUAL, Environment, Lists, Type, equatable, orderable

MOST_ITEMS = 500  # of a list


def check(node: Node, environment: Environment, lists: Lists, expect: Type) -> tuple[DslError, ...]:
    """Every problem of a tree that is to give a value of the type `expect`, in the order of the text; () when sound."""
    checker = _Checker(environment, lists, node.span.text)
    checker.expect(node, expect)
    return tuple(sorted(checker.errors, key=lambda error: error.span.start))


class _Checker:
    """Visits return the type of what they visited, or None when they have already reported why it has none."""

    def __init__(self, environment: Environment, lists: Lists, text: str) -> None:
        self.environment = environment
        self.lists = lists
        self.text = text
        self.errors: list[DslError] = []

    def report(self, message: str, span: Span, hint: str = "") -> None:
        self.errors.append(DslError(message, span, hint, self.text))

    def refuse(self, message: str, span: Span, hint: str = "") -> Type | None:
        """Reports, and is the None that the visit then returns."""
        self.report(message, span, hint)
        return None

    def expect(self, node: Node, expected: Type) -> None:
        kind = self.visit(node)
        if kind is None or kind is expected or expected is Type.ANY or (kind in NUMERIC and expected is Type.FLOAT):
            return
        self.report(f"{expected.value} is expected here, not {kind.value}", node.span, towards(expected, kind))

    def visit(self, node: Node) -> Type | None:
        match node:
            case And(parts) | Or(parts):
                for part in parts:
                    self.expect(part, Type.BOOL)
            case Not(condition):
                self.expect(condition, Type.BOOL)
            case Exists(value):
                self.exists(node, value)
            case Compare():
                self.compare(node)
            case Else(options):
                return self.fallback(node, options)
            case Call():
                return self.call(node)
            case Lookup():
                return self.lookup(node)
            case Until(clock):
                return self.until(node, clock is None)
            case Name():
                return self.name(node)
            case Entry():
                return self.entry(node)
            case Pattern():
                return self.refuse("a regex stands only after `matches` and in `number(…, /…/)`", node.span)
            case List() | ListName():
                return self.refuse("a list stands only after `in`, `has any` and `has all`", node.span)
        return infer(node, self.environment)

    # Names

    def name(self, node: Name) -> Type | None:
        field = self.environment.fields.get(node.name)
        if node.name == "reset":
            return self.refuse("`reset` stands only in `until reset`", node.span)
        if field is not None:
            return field.type
        if node.name in self.environment.keyed:
            return self.refuse(f"`{node.name}` needs a key", node.span, f'write `{node.name}["…"]`')
        if node.name in FUNCTIONS:
            return self.refuse(f"`{node.name}` is a function", node.span, FUNCTIONS[node.name].usage)
        known = (*self.environment.fields, *self.environment.keyed)
        return self.refuse(f"unknown name `{node.name}`", node.span, suggestion(node.name, known))

    def entry(self, node: Entry) -> Type | None:
        keyed = self.environment.keyed.get(node.name)
        if keyed is None:
            if node.name in self.environment.fields:
                return self.refuse(f"`{node.name}` takes no key", node.span)
            return self.refuse(f"unknown name `{node.name}`", node.span, suggestion(node.name, self.environment.keyed))
        try:
            keyed.bind(node.key)
        except ValueError as error:
            return self.refuse(str(error), node.key_span)
        return keyed.type

    def until(self, node: Until, reset: bool) -> Type | None:
        if "now" not in self.environment.fields or (reset and "reset" not in self.environment.fields):
            return self.refuse("there is no clock here", node.span)
        return Type.DURATION

    # Values

    def exists(self, node: Exists, value: Node) -> None:
        kind = self.visit(value)
        if kind is Type.BOOL and not isinstance(value, Name | Else):
            self.report("`exists` asks about a value, and a condition always has one", node.span)

    def fallback(self, node: Else, options: tuple[Node, ...]) -> Type | None:
        kinds = [self.visit(option) for option in options]
        if None in kinds:
            return None
        kind = infer(node, self.environment)
        if kind is None:
            names = " and ".join(dict.fromkeys(kind.value for kind in kinds if kind))
            hint = towards(Type.DURATION, Type.INT) if Type.DURATION in kinds else ""
            return self.refuse(f"the sides of `else` are of different types: {names}", node.span, hint)
        return kind

    def call(self, node: Call) -> Type | None:
        if node.name == "raw":
            return self.refuse("`raw(…)` stands only beside an operator that compares texts", node.span)
        kind = self.arguments(node)
        if kind is Type.PAIRS:
            return self.refuse("`pairs(…)` needs the key to look up", node.span, FUNCTIONS["pairs"].usage)
        return kind

    def lookup(self, node: Lookup) -> Type | None:
        key = self.visit(node.key)
        if key is not None and key is not Type.STRING:
            self.report(f"the key is {key.value}, not a text", node.key.span)
        if not isinstance(node.pairs, Call) or node.pairs.name != "pairs":
            self.visit(node.pairs)
            return self.refuse("only `pairs(…)` can be looked up in", node.span)
        sound = self.arguments(node.pairs)
        for argument in node.pairs.arguments[1:] if sound else ():
            if not isinstance(argument, Text) or not argument.value:
                self.report("the separators of `pairs` are texts, written out and not empty", argument.span)
        return Type.STRING

    def arguments(self, node: Call) -> Type | None:
        """The type of a call, its arguments having been checked."""
        function = FUNCTIONS.get(node.name)
        if function is None:
            for argument in node.arguments:
                self.operand(argument)
            return self.refuse(f"unknown function `{node.name}`", node.span, suggestion(node.name, FUNCTIONS))
        count = len(node.arguments)
        if count < function.least or (function.most is not None and count > function.most):
            return self.refuse(f"`{node.name}` takes other arguments", node.span, function.usage)
        kinds = [self.argument(function, node, place) for place in range(count)]
        if None in kinds:
            return None
        kind = infer(node, self.environment)
        if kind is None:
            names = " and ".join(dict.fromkeys(kind.value for kind in kinds if kind))
            return self.refuse(f"`{node.name}` compares values of one type, not {names}", node.span)
        return kind

    def argument(self, function: Function, node: Call, place: int) -> Type | None:
        argument = node.arguments[place]
        accepted = function.accepts[min(place, len(function.accepts) - 1)]
        if isinstance(argument, Pattern) and Type.REGEX in accepted:
            return self.regex(argument, raw=is_raw(node.arguments[0]), groups=1)
        captures = function.name == "number" and len(node.arguments) == 2
        kind = self.operand(argument) if captures and place == 0 else self.visit(argument)
        if captures and place == 0:
            accepted = TEXTUAL
        if kind is None or kind in accepted:
            return kind
        wanted = " or ".join(sorted(kind.value for kind in accepted - {Type.INT, Type.STRINGS, Type.ANY}))
        return self.refuse(f"`{function.name}` takes {wanted} here, not {kind.value}", argument.span)

    def regex(self, node: Pattern, raw: bool, groups: int = 0) -> Type | None:
        complaint = about_regex(node, raw, groups)
        self.complain(complaint)
        return None if complaint else Type.REGEX

    # Comparisons

    def operand(self, node: Node) -> Type | None:
        """A visit where `raw(…)` is welcome."""
        return self.arguments(node) if is_raw(node) and isinstance(node, Call) else self.visit(node)

    def compare(self, node: Compare) -> None:
        for complaint in about_statuses(node):
            self.report(*complaint)
        if node.operator in MEMBERSHIP:
            return self.membership(node)
        if node.operator in EQUALITY or node.operator in ORDER:
            return self.scalar(node)
        return self.textual(node)

    def scalar(self, node: Compare) -> None:
        for side in (node.left, node.right):
            if isinstance(side, List | ListName):
                return self.report(f"`{node.operator}` does not compare with a list", side.span, "write `in […]`")
            if isinstance(side, Pattern):
                return self.report(f"`{node.operator}` does not compare with a regex", side.span, "write `matches /…/`")
        left, right = self.operand(node.left), self.operand(node.right)
        if left is None or right is None:
            return
        fits = equatable if node.operator in EQUALITY else orderable
        if not fits(left, right):
            message = f"`{node.operator}` does not compare {left.value} with {right.value}"
            self.report(message, node.span, bridge(node, left, right))
        elif (is_raw(node.left) or is_raw(node.right)) and not {left, right} <= TEXTUAL:
            self.report("`raw(…)` stands only beside an operator that compares texts", node.span)

    def membership(self, node: Compare) -> None:
        left = self.operand(node.left)
        items = self.items(node)
        if left is None or items is None:
            return
        if not equatable(left, items):
            message = f"`{node.operator}` does not look for {left.value} in a list of {'texts' if items is Type.STRING else 'numbers'}"
            self.report(message, node.span, bridge(node, left, items))

    def textual(self, node: Compare) -> None:
        left = self.operand(node.left)
        if left is not None and left not in TEXTUAL:
            self.report(f"`{node.operator}` looks into texts, not into {left.value}", node.left.span)
        raw = is_raw(node.left) or is_raw(node.right)
        if node.operator == "matches":
            if isinstance(node.right, Pattern):
                self.regex(node.right, raw)
            else:
                self.report("`matches` needs a regex between slashes", node.right.span, "write `matches /…/`")
        elif node.operator in ("has any", "has all"):
            if self.items(node) in NUMERIC:
                self.report(f"`{node.operator}` looks for texts", node.right.span, "put the numbers into double quotes")
            else:
                self.markers(node.right, raw)
        elif isinstance(node.right, List | ListName):
            hint = "write `has any` or `has all`" if node.operator == "has" else ""
            self.report(f"`{node.operator}` looks for one text, not for a list", node.right.span, hint)
        elif isinstance(node.right, Text):
            shortest = SHORTEST_MARKER if node.operator == "has" else 1
            self.complain(about_marker(node.right.value, node.right.span, raw, shortest=shortest))
        else:
            right = self.operand(node.right)
            if right is not None and right not in TEXTUAL:
                hint = "put it into double quotes" if isinstance(node.right, Number) else ""
                self.report(f"`{node.operator}` looks for a text, not for {right.value}", node.right.span, hint)

    # Lists and markers

    def items(self, node: Compare) -> Type | None:
        """The type of the items of the list on the right."""
        right = node.right
        if isinstance(right, ListName):
            if right.name not in self.lists:
                return self.refuse(f"unknown list `@{right.name}`", right.span, suggestion(right.name, self.lists, "@"))
            return self.counted(len(self.lists[right.name]), right.span, Type.STRING)
        if not isinstance(right, List):
            single = node.operator in MEMBERSHIP and self.operand(right) in TEXTUAL
            hint = "write `==`: a list of texts equals what one of its elements equals" if single else ""
            return self.refuse(f"`{node.operator}` needs a list: `[…]` or `@name`", right.span, hint)
        kinds = {self.item(item) for item in right.items}
        if None in kinds:
            return None
        if len(kinds) > 1:
            return self.refuse("a list holds texts or numbers, not both", right.span)
        return self.counted(len(right.items), right.span, *kinds)

    def item(self, node: Node) -> Type | None:
        if isinstance(node, Text):
            return Type.STRING
        if isinstance(node, Number):
            return Type.FLOAT
        return self.refuse("a list holds texts and numbers that are written out", node.span)

    def counted(self, count: int, span: Span, kind: Type | None = None) -> Type | None:
        if not count:
            return self.refuse("an empty list", span)
        if count > MOST_ITEMS:
            return self.refuse(f"a list of {count} items, more than {MOST_ITEMS}", span)
        return kind

    def markers(self, node: Node, raw: bool) -> None:
        if isinstance(node, ListName):
            for value in self.lists.get(node.name, ()):
                self.complain(about_marker(value, node.span, raw, f" of `@{node.name}`"))
        elif isinstance(node, List):
            for item in node.items:
                if isinstance(item, Text):
                    self.complain(about_marker(item.value, item.span, raw))

    def complain(self, complaint: Complaint | None) -> None:
        if complaint is not None:
            self.report(*complaint)
