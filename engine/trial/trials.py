"""Whether a case notices what a mutant makes of a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from faultwise.engine.cases import NOW, judged, row, run_case
from faultwise.engine.failure.intake import intake
from faultwise.engine.failure.reading import Reading
from faultwise.engine.lint.catalogue import Written
from faultwise.engine.policy.bucket import Bucket
from faultwise.engine.policy.build import Builder
from faultwise.engine.policy.model import Origin, Provider, Restatement, Rule
from faultwise.engine.policy.parsed import Entry
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import conclude

from .mutants import Mutant

T = TypeVar("T", Rule, Restatement)


@dataclass(frozen=True, slots=True)
class Placed:
    """A case that passes, with what it is before and after restatement."""

    case: Entry
    provider: str
    before: Reading
    after: Reading


class Trials:
    """Runs mutants against the cases of a policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._cases = tuple(_placed(policy))
        self._origin: Origin | None = None
        self._beside: tuple[tuple[Placed, bool], ...] = ()  # of the rule at `_origin`: its cases, and whether it holds

    def notices(self, mutant: Mutant) -> bool:
        """Whether a case that passes with the rule as written fails with the mutant.

        Looked at are the cases of the rule's file and of `kind: cases` files. One that cannot be compiled is noticed.
        """
        mutated = _with(self._policy, mutant)
        return mutated is None or any(not run_case(mutated, case).ok for case in self._told_apart(mutant.rule, mutated))

    def _told_apart(self, rule: Written, mutated: Policy) -> Iterator[Entry]:
        """The cases in which the rule holds and the mutant does not, or the other way round; no other can notice."""
        if self._origin != rule.entry.origin:
            self._beside = tuple(self._held(rule))
            self._origin = rule.entry.origin
        compiled = _Compiled(mutated, rule)
        for placed, held in self._beside:
            if compiled.holds(placed) is not held:
                yield placed.case

    def _held(self, rule: Written) -> Iterator[tuple[Placed, bool]]:
        compiled = _Compiled(self._policy, rule)
        for placed in self._cases:
            parsed = placed.case.parsed
            if (parsed.kind == "cases" or parsed.name == rule.entry.parsed.name) and compiled.speaks_about(placed):
                yield placed, compiled.holds(placed)


class _Compiled:
    """What one rule came to in a policy, for each provider that has it."""

    def __init__(self, policy: Policy, rule: Written) -> None:
        self._policy = policy
        self._written = rule
        self._by_provider: dict[str, Rule | Restatement | None] = {}

    def speaks_about(self, placed: Placed) -> bool:
        return self._for(placed.provider) is not None

    def holds(self, placed: Placed) -> bool:
        rule = self._for(placed.provider)
        reading = placed.before if self._written.restates else placed.after
        return (
            rule is not None
            and reading.key in rule.statuses
            and all(condition.test(reading) for condition in rule.conditions)
        )

    def _for(self, provider: str) -> Rule | Restatement | None:
        if provider not in self._by_provider:
            origin = self._written.entry.origin
            own = self._policy.provider(provider)
            every: tuple[Rule | Restatement, ...] = (*own.restatements, *own.rules, *self._policy.general)
            self._by_provider[provider] = next((one for one in every if one.origin == origin), None)
        return self._by_provider[provider]


def _placed(policy: Policy) -> Iterator[Placed]:
    """The cases that pass and are failures."""
    for case in policy.cases:
        try:
            decision = conclude(policy, intake(row(case), NOW))
        except ValueError:
            continue  # reported where the case runs
        if decision.before.is_error and judged(case, decision.verdict).ok:
            yield Placed(case, decision.provider.name, decision.before, decision.reading)


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
