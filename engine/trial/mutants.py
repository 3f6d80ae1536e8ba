"""Rules made a little wrong, one condition at a time. A mutant that no case notices is a condition that nothing holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from faultwise import dsl
from faultwise.dsl.nodes import And, Compare, List, Name, Node, Not, Number, Or, Text
from faultwise.engine.cases import NOW
from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.lint.catalogue import Written, catalogue
from faultwise.engine.policy.build import MARKERS
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.problem import Problem

CODE = "FW032"
CLASSES = {"200": frozenset({200}), "4xx": frozenset(range(400, 500)), "5xx": frozenset(range(500, 600))}
WITHIN_200 = ("body", "stream_start", "stream")  # where errors show that count as a 200
ERRORS = frozenset(map(str, range(400, 600)))


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule with one condition gone or changed."""

    rule: Written
    data: Mapping[str, Any]
    key: str  # the key that was changed
    change: str  # what was done to it
    weakens: bool  # whether the rule holds more easily than before, not less

    @property
    def problem(self) -> Problem:
        """The finding, where no case notices."""
        message = f"no case notices `{self.rule.id}` {self.change}"
        return self.rule.entry.problem((self.key,), CODE, message, "add a case that holds this condition")


def mutants(sources: Sources, policy: Policy, files: Iterable[str] | None = None) -> tuple[Mutant, ...]:
    """Every mutant of the live rules, or of those of some files, in a fixed order."""
    names = None if files is None else frozenset(files)
    return tuple(
        mutant
        for rule in catalogue(sources, policy, NOW).rules
        if (names is None or rule.entry.parsed.name in names) and rule.data.get("mode") != "shadow"
        for mutant in _of(rule, policy.envelopes)
    )


def _of(rule: Written, envelopes: Envelopes) -> Iterator[Mutant]:
    for key in MARKERS:
        yield from _without_markers(rule, key)
    yield from _without_parts(rule)
    yield from _other_statuses(rule, envelopes)
    if "phase" in rule.data:
        yield _mutant(rule, "phase", None, "without `phase`", True)


def _without_markers(rule: Written, key: str) -> Iterator[Mutant]:
    if key not in rule.data:
        return
    written = rule.data[key]
    yield _mutant(rule, key, None, f"without `{key}`", True)
    if not isinstance(written, str) and len(written) > 1:
        for number, marker in enumerate(written):
            yield _mutant(rule, key, _less(written, number), f"without `{marker}` in `{key}`", key != "any")


def _without_parts(rule: Written) -> Iterator[Mutant]:
    if "when" not in rule.data:
        return
    yield _mutant(rule, "when", None, "without `when`", True)
    for node, gone, weakens in changed(dsl.parse(rule.data["when"])):
        yield _mutant(rule, "when", dsl.source(node), f"without `{gone}` in `when`", weakens)


def _other_statuses(rule: Written, envelopes: Envelopes) -> Iterator[Mutant]:
    """One status fewer, and the rule for a whole class of statuses of which it names some or none."""
    when = rule.data.get("when")
    never = (
        bool(rule.phases)
        and rule.phases.isdisjoint(WITHIN_200)
        or (when is not None and _never_200(dsl.parse(when), envelopes))
    )
    key = "from" if rule.restates else "status"
    written = rule.data[key]
    items = [written] if isinstance(written, (str, int)) else written
    if len(items) > 1:
        for number, item in enumerate(items):
            yield _mutant(rule, key, _less(items, number), f"without `{item}` in `{key}`", False)
    for item, numbers in CLASSES.items():
        if not numbers <= rule.statuses.numbers and not (never and item == "200"):
            yield _mutant(rule, key, [*items, item], f"with `{item}` in `{key}`", True)


def _never_200(node: Node, envelopes: Envelopes) -> bool:
    """Whether no failure counts as a 200 for which `node` holds: an error in a 200 counts as what its words stand for."""
    match node:
        case And(parts):
            return any(_never_200(part, envelopes) for part in parts)
        case Or(parts):
            return all(_never_200(part, envelopes) for part in parts)
        case Compare("==" | "in", Name("inner_status")):
            return True
        case Compare("==" | "in", Name("status" | "code" | "type" as name), right):
            items = right.items if isinstance(right, List) else (right,)
            return all(_never_a_200(name, item, envelopes) for item in items)
        case Compare(">=", Name("status"), Number(value)):
            return value > 200
    return False


def _never_a_200(name: str, item: Node, envelopes: Envelopes) -> bool:
    if name == "status":
        return isinstance(item, Number) and item.value != 200
    if not isinstance(item, Text):
        return False
    return envelopes.mapped((item.value,)) is not None or item.value in ERRORS  # a code that is a status is its own


def changed(node: Node, weakens: bool = True) -> Iterator[tuple[Node, str, bool]]:
    """A condition with one of its parts gone: of `and`, `or` and lists, at every depth.

    With it come the part's text, and whether the whole holds more easily without it. `weakens` says whether it does
    where `node` itself holds more easily.
    """
    match node:
        case And(parts) | Or(parts):
            for number, part in enumerate(parts):
                rest = _less(parts, number)
                joined = rest[0] if len(rest) == 1 else replace(node, conditions=tuple(rest))
                yield joined, dsl.source(part), weakens is isinstance(node, And)
                for other, gone, sense in changed(part, weakens):
                    inside = (*parts[:number], other, *parts[number + 1 :])
                    yield replace(node, conditions=inside), gone, sense
        case Not(inner):
            for other, gone, sense in changed(inner, not weakens):
                yield replace(node, condition=other), gone, sense
        case Compare(operator, _, List(items)) if len(items) > 1:
            for number, item in enumerate(items):
                fewer = replace(node, right=List(tuple(_less(items, number))))
                yield fewer, dsl.source(item), weakens is (operator in ("has all", "not in"))


def _mutant(rule: Written, key: str, value: Any, change: str, weakens: bool) -> Mutant:
    """The rule with one key changed, or without it."""
    data = {name: held for name, held in rule.data.items() if name != key or value is not None}
    return Mutant(rule, data if value is None else {**data, key: value}, key, change, weakens)


def _less(items: Sequence[Any], number: int) -> list[Any]:
    return [*items[:number], *items[number + 1 :]]
