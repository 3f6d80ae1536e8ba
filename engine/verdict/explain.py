"""Why a verdict is what it is: what was read, which rules were tried and where each stopped, where each number is from.

The stages are not run again in another way: a `Decision` holds what they found, and the rules listed as tried are
those of the same buckets, evaluated condition by condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from faultwise import dsl
from faultwise.engine.failure.reading import Reading
from faultwise.engine.failure.record import Failure
from faultwise.engine.policy.model import Restatement, Rule
from faultwise.engine.policy.policy import Policy

from .decide import Decision, conclude
from .verdict import Verdict

NEAR = 3  # near misses shown: the rules that came closest
LONGEST = 120  # characters of a condition shown as text; all of it stands in the JSON


@dataclass(frozen=True, slots=True)
class Tried:
    """A rule or restatement that was looked at, and the first of its conditions that did not hold."""

    id: str
    where: str
    layer: str
    matched: bool
    held: int
    conditions: int
    failed: str | None

    def __str__(self) -> str:
        if self.matched:
            return f"{self.id}  matched"
        failed = self.failed or ""
        short = failed if len(failed) <= LONGEST else f"{failed[:LONGEST]}…"
        return f"{self.id}  {self.held} of {self.conditions} conditions held, then not: {short}"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The trace of one decision."""

    verdict: Verdict
    found: tuple[tuple[str, str], ...]
    restatements: tuple[Tried, ...]
    rules: tuple[Tried, ...]
    effects: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        """The trace as JSON-ready data."""
        return {
            "verdict": self.verdict.to_json(),
            "found": dict(self.found),
            "restatements": [_tried(one) for one in self.restatements],
            "rules": [_tried(one) for one in self.rules],
            "effects": dict(self.effects),
        }

    def text(self) -> str:
        """The trace as a tree to read: what follows first, then why."""
        verdict = self.verdict
        lines = [f"{verdict.reason}  (told as {verdict.status}, upstream said {verdict.upstream_status})"]
        if self.effects:
            lines += ["so", *_table(self.effects)]
        lines += ["found", *_table(self.found)]
        if self.restatements:
            lines += ["restatements tried", *(f"  {one}" for one in self.restatements)]
        if self.rules:
            lines += ["rules tried", *_by_layer(self.rules)]
        near = _near(self.rules)
        if near:
            lines += ["near misses", *(f"  {one}" for one in near)]
        return "\n".join(lines)


def explain(policy: Policy, failure: Failure) -> Explanation:
    """Decide, and show how."""
    decision = conclude(policy, failure)
    before, reading = decision.before, decision.reading
    if not before.is_error or before.phase == "local":
        return Explanation(decision.verdict, _found(before), (), (), _effects(decision))
    restatements = _try(policy.restatements(decision.provider, before.key).rules, before)
    rules = _try(policy.rules(decision.provider, reading.key).rules, reading)
    return Explanation(decision.verdict, _found(before), restatements, rules, _effects(decision))


def _try(rules: Iterable[Rule | Restatement], reading: Reading) -> tuple[Tried, ...]:
    """Each rule up to the one that matches."""
    tried: list[Tried] = []
    for rule in rules:
        held = 0
        failed = None
        for condition in rule.conditions:
            if not condition.test(reading):
                failed = condition.source
                break
            held += 1
        layer = getattr(rule, "layer", "restatement")
        tried.append(Tried(rule.id, str(rule.origin), layer, failed is None, held, len(rule.conditions), failed))
        if failed is None:
            break
    return tuple(tried)


def _near(tried: Iterable[Tried]) -> list[Tried]:
    missed = [one for one in tried if not one.matched and one.held > 0]
    return sorted(missed, key=lambda one: one.conditions - one.held)[:NEAR]


def _found(reading: Reading) -> tuple[tuple[str, str], ...]:
    """What was read in the response, absent things left out."""
    stated = reading.stated
    rows = (
        ("provider", reading.provider),
        ("phase", reading.phase + (f" ({reading.kind})" if reading.kind else "")),
        ("upstream status", reading.upstream_status),
        ("effective status", reading.status if reading.status != reading.upstream_status else None),
        ("code", ", ".join(reading.code)),
        ("type", ", ".join(reading.type)),
        ("message", " | ".join(reading.message)[:500]),
        ("inner status", reading.inner_status),
        ("wrapped in", " | ".join(reading.outer)[:200]),
        ("stated wait", f"{dsl.shown(stated.seconds)}, {stated.source}: {stated.where}" if stated else None),
    )
    return tuple((name, str(value)) for name, value in rows if value not in (None, ""))


def _effects(decision: Decision) -> tuple[tuple[str, str], ...]:
    verdict, rule, scoped, times = decision.verdict, decision.rule, decision.scoped, decision.timing
    if rule is None or scoped is None or times is None:
        return ()
    restated = decision.restated
    rows = (
        (
            "restated",
            f"{decision.before.status} -> {restated.to} by {restated.id} ({restated.origin})" if restated else None,
        ),
        ("rule", f"{rule.id} ({rule.origin}, {rule.layer})"),
        ("why", rule.why or None),
        ("fault", verdict.fault),
        ("scope", f"{verdict.scope} {verdict.lock_key or ''} ({scoped.why})"),
        (
            "cooldown",
            f"{dsl.shown(verdict.cooldown_s)} ({times.why})"
            if verdict.cooldown_s is not None
            else f"none ({times.why})",
        ),
        ("client waits", dsl.shown(verdict.retry_after_s) if verdict.retry_after_s is not None else "not told"),
        (
            "terminal",
            decision.terminal_why if verdict.terminal or "none declared" not in decision.terminal_why else None,
        ),
        ("next", "another target is tried" if verdict.fallback else "the client is answered"),
    )
    return tuple((name, str(value)) for name, value in rows if value is not None)


def _table(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f"  {name:<17} {value}" for name, value in rows]


def _by_layer(tried: Iterable[Tried]) -> list[str]:
    """Rules by layer; of the shipped ones only those of which something held, the others are counted."""
    lines: list[str] = []
    layers: dict[str, list[Tried]] = {}
    for one in tried:
        layers.setdefault(one.layer, []).append(one)
    for layer, rules in layers.items():
        shown = [one for one in rules if one.matched or not layer.startswith("shipped")]
        lines += [f"  {layer}", *(f"    {one}" for one in shown)]
        if len(shown) < len(rules):
            lines.append(f"    {len(rules) - len(shown)} that did not match")
    return lines


def _tried(one: Tried) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}
