"""Rules made a little wrong, one condition at a time. A mutant that no case notices is a condition that nothing holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from faultwise import dsl
from faultwise.dsl.nodes import And, Compare, List, Node, Not, Or
from faultwise.engine.cases import NOW, row, run_case
from faultwise.engine.failure.intake import intake
from faultwise.engine.failure.reading import Reading
from faultwise.engine.lint.catalogue import Written, catalogue
from faultwise.engine.policy.bucket import Bucket
from faultwise.engine.policy.build import MARKERS, Builder
from faultwise.engine.policy.model import Provider, Restatement, Rule
from faultwise.engine.policy.parsed import Entry
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.problem import Problem
from faultwise.engine.verdict.decide import conclude

CODE = "FW032"
T = TypeVar("T", Rule, Restatement)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule with one condition gone or weakened."""

    rule: Written
    data: Mapping[str, Any]
    key: str  # the key that was changed
    change: str  # what was done to it

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
        for mutant in _of(rule)
    )


class Trials:
    """Runs mutants against the cases of a policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._cases = tuple(_placed(policy))

    def notices(self, mutant: Mutant) -> bool:
        """Whether a case that passes with the rule as written fails with the mutant.

        Looked at are the cases of the rule's file and of `kind: cases` files. One that cannot be compiled is noticed.
        """
        mutated = _with(self._policy, mutant)
        if mutated is None:
            return True
        return any(not run_case(mutated, case).ok for case in self._concerned(mutant.rule))

    def _concerned(self, rule: Written) -> Iterator[Entry]:
        """The cases that the rule can decide at all."""
        for case, keys in self._cases:
            beside = case.parsed.name == rule.entry.parsed.name or case.parsed.kind == "cases"
            if beside and keys[0 if rule.restates else 1] in rule.statuses:
                yield case


def _placed(policy: Policy) -> Iterator[tuple[Entry, tuple[int | str | None, int | str | None]]]:
    """The cases that pass, with the status before and after restatement."""
    for case in policy.cases:
        if run_case(policy, case).ok:
            decision = conclude(policy, intake(row(case), NOW))
            yield case, (decision.before.key, decision.reading.key)


def _of(rule: Written) -> Iterator[Mutant]:
    for key in MARKERS:
        yield from _without_markers(rule, key)
    yield from _without_parts(rule)
    status = "from" if rule.restates else "status"
    written = rule.data[status]
    if isinstance(written, Sequence) and not isinstance(written, str) and len(written) > 1:
        for number, item in enumerate(written):
            yield _mutant(rule, status, _less(written, number), f"without `{item}` in `{status}`")
    if "phase" in rule.data:
        yield _mutant(rule, "phase", None, "without `phase`")


def _without_markers(rule: Written, key: str) -> Iterator[Mutant]:
    if key not in rule.data:
        return
    written = rule.data[key]
    yield _mutant(rule, key, None, f"without `{key}`")
    if not isinstance(written, str) and len(written) > 1:
        for number, marker in enumerate(written):
            yield _mutant(rule, key, _less(written, number), f"without `{marker}` in `{key}`")


def _without_parts(rule: Written) -> Iterator[Mutant]:
    if "when" not in rule.data:
        return
    yield _mutant(rule, "when", None, "without `when`")
    for node, gone in weakened(dsl.parse(rule.data["when"])):
        yield _mutant(rule, "when", dsl.source(node), f"without `{gone}` in `when`")


def weakened(node: Node) -> Iterator[tuple[Node, str]]:
    """A condition with one of its parts gone, and that part's text: of `and`, `or` and lists, at every depth."""
    match node:
        case And(parts) | Or(parts):
            for number, part in enumerate(parts):
                rest = _less(parts, number)
                yield (rest[0] if len(rest) == 1 else replace(node, conditions=tuple(rest))), dsl.source(part)
                for changed, gone in weakened(part):
                    inside = (*parts[:number], changed, *parts[number + 1 :])
                    yield replace(node, conditions=inside), gone
        case Not(inner):
            for changed, gone in weakened(inner):
                yield replace(node, condition=changed), gone
        case Compare(_, _, List(items)) if len(items) > 1:
            for number, item in enumerate(items):
                yield replace(node, right=List(tuple(_less(items, number)))), dsl.source(item)


def _mutant(rule: Written, key: str, value: Any, change: str) -> Mutant:
    """The rule with one key changed, or without it."""
    data = {name: held for name, held in rule.data.items() if name != key or value is not None}
    return Mutant(rule, data if value is None else {**data, key: value}, key, change)


def _less(items: Sequence[Any], number: int) -> list[Any]:
    return [*items[:number], *items[number + 1 :]]


def _with(policy: Policy, mutant: Mutant) -> Policy | None:
    """The policy with the mutant in the rule's place, wherever it is inherited; None where it does not compile."""
    rule = mutant.rule
    builder = Builder(policy.reasons, policy.markers, policy.allowlists, policy.terminals)
    entry = Entry(mutant.data, rule.entry.parsed, rule.entry.path)
    origin = rule.entry.origin

    def swapped(rules: tuple[Rule, ...], provider: str | None) -> tuple[Rule, ...] | None:
        made = [builder.rule(entry, one.layer, provider) if one.origin == origin else one for one in rules]
        return None if None in made else tuple(one for one in made if one is not None)

    def restated(rules: tuple[Restatement, ...], provider: str) -> tuple[Restatement, ...] | None:
        made = [builder.restatement(entry, rule.layer, provider) if one.origin == origin else one for one in rules]
        return None if None in made else tuple(one for one in made if one is not None)

    if rule.provider is None:
        general = swapped(policy.general, None)
        return None if general is None else _fresh(policy, general=general)
    providers: dict[str, Provider] = {}
    for name, one in policy.providers.items():
        rules, restatements = one.rules, one.restatements
        if rule.restates and any(held.origin == origin for held in restatements):
            found = restated(restatements, one.name)
            if found is None:
                return None
            one = replace(one, restatements=found)
        elif any(held.origin == origin for held in rules):
            swap = swapped(rules, one.name)
            if swap is None:
                return None
            one = replace(one, rules=swap)
        providers[name] = one
    return _fresh(policy, providers=providers)


def _fresh(policy: Policy, **parts: Any) -> Policy:
    kept = {one.name: getattr(policy, one.name) for one in fields(policy) if not one.name.startswith("_")}
    return _Throwaway(**{**kept, **parts})


class _Throwaway(Policy):
    """A policy that decides a few failures: arranging its rules for speed would cost more than it saves."""

    def rules(self, provider: Provider, key: int | str | None) -> Bucket[Rule]:
        return _Line(rule for rule in (*provider.rules, *self.general) if key in rule.statuses)

    def restatements(self, provider: Provider, key: int | str | None) -> Bucket[Restatement]:
        return _Line(one for one in provider.restatements if key in one.statuses)


class _Line(Bucket[T]):
    """Rules that are tried one after the other."""

    def __init__(self, rules: Iterable[T]) -> None:
        self._line: tuple[T, ...] = tuple(rules)

    @property
    def rules(self) -> tuple[T, ...]:
        return self._line

    def first(self, reading: Reading) -> T | None:
        return next((rule for rule in self._line if all(one.test(reading) for one in rule.conditions)), None)
