"""What is checked: every rule and restatement as written, what its conditions come to, and in which order it is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from faultwise.engine.policy.model import Reason, StatusSet
from faultwise.engine.policy.overlay import merge_general, merge_providers
from faultwise.engine.policy.parsed import Entry, Parsed, parse
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.policy.statuses import parse_statuses
from faultwise.engine.problem import Problem

from .conditions import Conditions, Mark, conditions

Path = tuple["str | int", ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A rule or a restatement."""

    entry: Entry
    layer: str
    provider: str | None  # None: a general rule
    restates: bool
    statuses: StatusSet
    conditions: Conditions

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.entry.data["id"])

    @property
    def data(self) -> Mapping[str, Any]:
        """Its keys."""
        return self.entry.data

    @property
    def phases(self) -> frozenset[str]:
        """The phases it speaks about; empty: every one."""
        phase = self.data.get("phase", ())
        return frozenset([phase] if isinstance(phase, str) else phase)

    def warning(self, key: Path, code: str, message: str, hint: str = "", offset: int = 0) -> Problem:
        """A finding that does not keep the policy from serving."""
        return replace(self.error(key, code, message, hint, offset), severity="warning")

    def error(self, key: Path, code: str, message: str, hint: str = "", offset: int = 0) -> Problem:
        """A finding that does. Shown at one of the rule's keys, or where the rule begins."""
        return self.entry.problem(key, code, message, hint, offset)

    def at(self, mark: Mark, code: str, message: str, hint: str = "") -> Problem:
        """A finding about a marker, which does not keep the policy from serving."""
        return self.warning(mark.path, code, message, hint, mark.offset)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that was written, and the policy it makes."""

    policy: Policy
    now: float
    files: tuple[Parsed, ...]
    rules: tuple[Written, ...]  # each once
    chains: tuple[tuple[Written, ...], ...]  # in the order in which they are tried

    def reason(self, rule: Written) -> Reason:
        """The reason of a rule."""
        return self.policy.reasons[rule.data["reason"]]

    def temporary(self, rule: Written) -> bool:
        """Whether what a rule finds ends by itself."""
        own = rule.data.get("temporary")
        return self.reason(rule).temporary if own is None else bool(own)

    def of_kind(self, kind: str) -> Iterator[Parsed]:
        """The files of one kind, in the order in which they lie over each other."""
        return (parsed for parsed in self.files if parsed.kind == kind)


def catalogue(sources: Sources, policy: Policy, now: float) -> Catalogue:
    """Read the files of a policy again, as they were written."""
    files = tuple(parsed for file in sources.files if (parsed := parse(file)[0]) is not None)
    lists = policy.markers
    drafts, _ = merge_providers(parsed for parsed in files if parsed.kind == "provider")
    chains: list[tuple[Written, ...]] = []
    for draft in drafts.values():
        for held, restates in ((draft.restatements, True), (draft.rules, False)):
            chains.append(tuple(_written(entry, layer, draft.name, restates, lists) for entry, layer in held))
    general = merge_general(parsed for parsed in files if parsed.kind == "rules")
    chains.append(tuple(_written(entry, layer, None, False, lists) for entry, layer in general))
    return Catalogue(policy, now, files, tuple(_each_once(chains)), tuple(chains))


def _written(
    entry: Entry, layer: str, provider: str | None, restates: bool, lists: Mapping[str, tuple[str, ...]]
) -> Written:
    statuses = parse_statuses(entry.data["from" if restates else "status"])
    return Written(entry, layer, provider, restates, statuses, conditions(entry.data, lists))


def _each_once(chains: Iterable[Iterable[Written]]) -> Iterator[Written]:
    """A base's rules stand in the chain of every file that extends it; the first is as good as any."""
    seen: set[tuple[str, Path]] = set()
    for chain in chains:
        for rule in chain:
            place = rule.entry.parsed.name, rule.entry.path
            if place not in seen:
                seen.add(place)
                yield rule
