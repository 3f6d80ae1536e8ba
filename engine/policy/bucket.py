"""The rules for one provider and status, arranged so that the cost does not grow with those that cannot match.

Most rules can only match where the text holds one of their markers. One scan of the text finds which markers are
there; only the rules these point at, and the few without such markers, are evaluated, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

import ahocorasick_rs

from .model import Restatement, Rule

if TYPE_CHECKING:
    from faultwise.engine.failure.reading import Reading

T = TypeVar("T", Rule, Restatement)
SCAN_ABOVE = 24  # markers; below, as many `in` tests are faster than a scan
DFA_UP_TO = 512  # markers; above, building the faster automaton takes too long


class Bucket(Generic[T]):
    """An ordered list of rules; the first that matches wins."""

    __slots__ = ("_always", "_scanner", "_triggers", "_words", "rules")

    def __init__(self, rules: Iterable[T]) -> None:
        self.rules: tuple[T, ...] = tuple(rules)
        self._always: list[int] = []
        triggers: dict[str, list[int]] = {}
        for rank, rule in enumerate(self.rules):
            if rule.needs is None:
                self._always.append(rank)
            for marker in rule.needs or ():
                triggers.setdefault(marker, []).append(rank)
        self._triggers = triggers
        self._words = tuple(triggers)
        self._scanner = _scanner(self._words) if len(triggers) > SCAN_ABOVE else None

    def __iter__(self) -> Iterator[T]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def first(self, reading: Reading) -> T | None:
        """The first rule all of whose conditions hold."""
        rules = self.rules
        for rank in self._candidates(reading) if self._words else self._always:
            rule = rules[rank]
            for condition in rule.conditions:
                if not condition.test(reading):
                    break
            else:
                return rule
        return None

    def _candidates(self, reading: Reading) -> list[int]:
        text = reading.text
        triggers = self._triggers
        if self._scanner is None:
            found = [marker for marker in self._words if marker in text]
        else:
            hits = self._scanner.find_matches_as_indexes(text.encode("utf-8", "replace"), overlapping=True)
            found = [self._words[hit] for hit in {hit[0] for hit in hits}]
        if not found:
            return self._always
        ranks = set(self._always)
        for marker in found:
            ranks.update(triggers[marker])
        return sorted(ranks)


def _scanner(words: tuple[str, ...]) -> ahocorasick_rs.BytesAhoCorasick:
    kind = ahocorasick_rs.Implementation.DFA if len(words) <= DFA_UP_TO else ahocorasick_rs.Implementation.ContiguousNFA
    return ahocorasick_rs.BytesAhoCorasick([word.encode() for word in words], implementation=kind)
