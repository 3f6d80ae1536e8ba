"""The rules for one provider and status, arranged so that the cost does not grow with those that cannot match.

Most rules can only match where the text holds one of their markers. One scan of the text finds which markers are
there; only the rules these point at, and the few that need no marker, are evaluated, in their order. Others need a
value to be there: of a header, at a path of the JSON, of a field. These are looked up by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

from faultwise.dsl import path

from .model import Restatement, Rule, Test
from .scan import Scan

if TYPE_CHECKING:
    from faultwise.engine.failure.reading import Reading

T = TypeVar("T", Rule, Restatement)
Ranks = list[int]


class Bucket(Generic[T]):
    """An ordered list of rules; the first that matches wins. Those of `then` come after its own.

    `shared` scans for at least the markers of these rules: one automaton can serve many buckets.
    """

    __slots__ = ("_always", "_find", "_headers", "_own", "_paths", "_signs", "_then")

    def __init__(self, rules: Iterable[T], then: Bucket[T] | None = None, shared: Scan | None = None) -> None:
        self._own: tuple[T, ...] = tuple(rules)
        self._then: Bucket[T] | None = then
        self._always: Ranks = []
        self._headers: dict[str, Ranks] = {}
        self._paths: dict[str, list[tuple[Test, Ranks]]] = {}  # by the name a path begins with
        self._signs: list[tuple[Test, Ranks]] = []
        triggers: dict[str, Ranks] = {}
        signs: dict[tuple[str, str], Ranks] = {}
        for rank, rule in enumerate(self._own):
            if rule.needs is None:
                self._always.append(rank)
                continue
            for marker in rule.needs:
                triggers.setdefault(marker, []).append(rank)
            for sign in rule.signs:
                key = sign.key.strip().lower() if sign.field == "header" else sign.key
                ranks = signs.setdefault((sign.field, key), [])
                if not ranks:
                    self._look_for(sign.field, key, sign.test, ranks)
                ranks.append(rank)
        self._find = (shared or Scan(triggers)).finder(triggers) if triggers else None

    def _look_for(self, field: str, key: str, test: Test, ranks: Ranks) -> None:
        if field == "header":
            self._headers[key] = ranks
        elif field == "json" and (head := path.head(key)):
            self._paths.setdefault(head, []).append((test, ranks))
        else:
            self._signs.append((test, ranks))

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

    def _candidates(self, reading: Reading) -> Ranks:
        """The ranks of the rules that have a chance, in order."""
        ranks = set() if self._find is None else self._find(reading.text)
        if self._headers and not self._headers.keys().isdisjoint(index := reading.headers.index):
            for name in self._headers.keys() & index.keys():
                ranks.update(self._headers[name])
        if self._paths:
            for document in reading.documents:
                if isinstance(document, dict) and not self._paths.keys().isdisjoint(document):
                    for name in self._paths.keys() & document.keys():
                        for test, those in self._paths[name]:
                            if test(reading):
                                ranks.update(those)
        for test, those in self._signs:
            if test(reading):
                ranks.update(those)
        if not ranks:
            return self._always
        return sorted(ranks.union(self._always) if self._always else ranks)
