"""Which rules the cases reach: by rule, by status on the wire, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from faultwise.engine.cases import NOW, row
from faultwise.engine.failure.intake import intake
from faultwise.engine.failure.reading import Reading
from faultwise.engine.failure.record import Failure
from faultwise.engine.policy.model import Origin, Restatement, Rule
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import Decision, conclude

STATES = ("fired", "vetoed", "outranked", "never reached")
NARROW = 12  # a rule for more statuses than this speaks about a class, not about each of them
AnyRule = Rule | Restatement


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """What the cases made of one rule: how many it decided, how many it missed by a condition, and by its place."""

    id: str
    origin: Origin
    fired: int = 0
    vetoed: int = 0  # its markers were there, or a case names it in `not_rule`, and a condition did not hold
    outranked: int = 0  # all its conditions held, and an earlier rule decided

    @property
    def state(self) -> str:
        """The best that can be said of it, one of STATES."""
        counts = (self.fired, self.vetoed, self.outranked)
        return next((state for state, count in zip(STATES, counts, strict=False) if count), STATES[-1])


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the cases reach."""

    rules: tuple[RuleCoverage, ...]
    statuses: Mapping[str, int]  # status on the wire or kind -> cases; 0 where only a rule names it
    reasons: Mapping[str, int]  # every reason -> cases

    def of(self, files: Iterable[str]) -> Coverage:
        """The same, for the rules of some files only."""
        names = frozenset(files)
        return Coverage(tuple(rule for rule in self.rules if rule.origin.file in names), self.statuses, self.reasons)

    @property
    def percent(self) -> float:
        """The share of rules that decide a case, in percent; 100 where there are no rules."""
        return 100 * sum(rule.fired > 0 for rule in self.rules) / len(self.rules) if self.rules else 100.0


def cover(policy: Policy) -> Coverage:
    """Run every case and note which rules it reached. Cases that are no failures are left out."""
    fired: Counter[Origin] = Counter()
    vetoed: Counter[Origin] = Counter()
    outranked: Counter[Origin] = Counter()
    statuses: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for failure, unwanted in _failures(policy):
        decision = conclude(policy, failure)
        statuses[str(decision.before.key)] += 1
        reasons[decision.verdict.reason] += 1
        for rule, reading, won in _looked_at(policy, decision):
            if won:
                fired[rule.origin] += 1
            elif all(condition.test(reading) for condition in rule.conditions):
                outranked[rule.origin] += 1
            elif rule.id in unwanted or _marked(rule, reading):
                vetoed[rule.origin] += 1
    for rule in all_rules(policy):
        if len(rule.statuses.numbers) + len(rule.statuses.kinds) <= NARROW:
            statuses.update({str(key): 0 for key in (*rule.statuses.numbers, *rule.statuses.kinds)})
    return Coverage(
        tuple(
            RuleCoverage(rule.id, rule.origin, fired[rule.origin], vetoed[rule.origin], outranked[rule.origin])
            for rule in all_rules(policy)
        ),
        dict(sorted(statuses.items())),
        {name: reasons[name] for name in policy.reasons},
    )


def all_rules(policy: Policy) -> tuple[AnyRule, ...]:
    """Every rule and restatement that is live, each once, however many providers inherit it."""
    providers = (one for name, one in policy.providers.items() if name == one.name)
    every: list[AnyRule] = []
    for one in providers:
        every += (*one.restatements, *one.rules)
    return tuple({rule.origin: rule for rule in (*every, *policy.general)}.values())


def _failures(policy: Policy) -> Iterator[tuple[Failure, frozenset[str]]]:
    for case in policy.cases:
        named = case.data["expect"].get("not_rule", ())
        try:
            yield intake(row(case), NOW), frozenset([named] if isinstance(named, str) else named)
        except ValueError:
            continue  # reported where the case runs


def _looked_at(policy: Policy, decision: Decision) -> Iterator[tuple[AnyRule, Reading, bool]]:
    """Every rule that speaks about the failure's provider and status, on what it sees, and whether it decided."""
    if not decision.before.is_error or decision.before.phase == "local":
        return
    for restatement in policy.restatements(decision.provider, decision.before.key):
        yield restatement, decision.before, restatement is decision.restated
    for rule in policy.rules(decision.provider, decision.reading.key):
        yield rule, decision.reading, rule is decision.rule


def _marked(rule: AnyRule, reading: Reading) -> bool:
    return rule.needs is not None and any(marker in reading.text for marker in rule.needs)
