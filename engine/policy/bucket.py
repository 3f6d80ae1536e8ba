"""The rules for one provider and status, arranged so that the cost does not grow with those that cannot match.

Most rules can only match where the text holds one of their markers. One scan of the text finds which markers are
there; only the rules these point at, and the few that need no marker, are evaluated, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

from .model import Condition, Restatement, Rule
from .scan import SCAN_ABOVE, Scan, scan

if TYPE_CHECKING:
    from faultwise.engine.failure.reading import Reading

T = TypeVar("T", Rule, Restatement)


class Bucket(Generic[T]):
    """An ordered list of rules; the first that matches wins. Those of `then` come after its own.

    `shared` scans for at least the markers of these rules: one automaton can serve many buckets.
    """

    __slots__ = ("_always", "_own", "_scan", "_signs", "_then", "_triggers")

    def __init__(self, rules: Iterable[T], then: Bucket[T] | None = None, shared: Scan | None = None) -> None:
        self._own: tuple[T, ...] = tuple(rules)
        self._then: Bucket[T] | None = then
        always: list[int] = []
        triggers: dict[str, list[int]] = {}
        signs: dict[str, tuple[Condition, list[int]]] = {}
        for rank, rule in enumerate(self._own):
            if rule.needs is None:
                always.append(rank)
                continue
            for marker in rule.needs:
                triggers.setdefault(marker, []).append(rank)
            for sign in rule.signs:
                signs.setdefault(sign.source, (sign, []))[1].append(rank)
        self._always = always
        self._triggers = triggers
        self._signs = tuple((sign.test, ranks) for sign, ranks in signs.values())
        self._scan = shared if shared is not None and len(triggers) > SCAN_ABOVE else scan(triggers)

    @property
    def rules(self) -> tuple[T, ...]:
        """All of them, in the order in which they are tried."""
        return self._own if self._then is None else self._own + self._then.rules

    def __iter__(self) -> Iterator[T]:
        return iter(self._own) if self._then is None else chain(self._own, self._then)

    def __len__(self) -> int:
        return len(self.rules)

    def first(self, reading: Reading) -> T | None:
        """The first rule all of whose conditions hold."""
        own = self._own
        for rank in self._candidates(reading):
            rule = own[rank]
            for condition in rule.conditions:
                if not condition.test(reading):
                    break
            else:
                return rule
        return None if self._then is None else self._then.first(reading)

    def _candidates(self, reading: Reading) -> list[int]:
        """The ranks of the rules that have a chance, in order."""
        ranks: set[int] = set()
        if self._triggers:
            for marker in self._scan(reading.text):
                ranks.update(self._triggers.get(marker, ()))
        for test, those in self._signs:
            if test(reading):
                ranks.update(those)
        return sorted(ranks.union(self._always)) if ranks else self._always
