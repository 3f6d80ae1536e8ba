"""Failures that only a status default caught, gathered by what they look like: the to-do list for the next rule."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256

from faultwise.dsl import fold
from faultwise.engine.verdict.decide import Decision

GROUPS = 10_000  # kept; failures of further groups are only counted
LENGTH = 200  # characters of a message that are told apart
# What differs from one failure to the next and says nothing about its kind.
_PASSING = (
    (re.compile(r"https?://\S+"), "<url>"),
    (re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}"), "<mail>"),
    (re.compile(r"\b(?:sk|key|pk|org|req|user|proj|acct|msg|resp|chatcmpl)[-_][\w*.-]{4,}"), "<id>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b(?=[a-z-]*[0-9])[0-9a-z]{16,}\b"), "<id>"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "<n>"),
)
_HOLE = re.compile(r"<(?:url|mail|id|n)>")


@dataclass(frozen=True, slots=True)
class Look:
    """What failures of one kind have in common."""

    provider: str
    status: int | None
    code: tuple[str, ...]
    type: tuple[str, ...]
    message: str  # folded, with holes for what differs; of a page, its title
    reason: str  # what the status alone was taken to mean

    @property
    def digest(self) -> str:
        """A short name of it that stays the same from run to run."""
        parts = (self.provider, str(self.status), *self.code, "", *self.type, "", self.message)
        return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:12]

    @property
    def phrase(self) -> str:
        """The longest piece of the message without a hole, for a marker; empty where there is none worth it."""
        pieces = [piece.strip(" \"'`.,:;()[]{}") for piece in _HOLE.split(self.message)]
        return max((piece for piece in pieces if len(piece) > 3), key=len, default="")


@dataclass(slots=True)
class Unmatched:
    """Groups of failures no rule knows, with how many there were and the line of the first."""

    failures: int = 0
    overflow: int = 0
    counts: dict[Look, int] = field(default_factory=dict)
    first: dict[Look, int] = field(default_factory=dict)

    def note(self, decision: Decision, number: int) -> None:
        """Count a decision, where a status default made it. Failures without a response have nothing to match."""
        found = look(decision)
        if found is not None:
            self._count(found, 1, number)

    def add(self, other: Unmatched) -> None:
        """Count what another has counted."""
        self.overflow += other.overflow
        self.failures += other.overflow
        for found, count in other.counts.items():
            self._count(found, count, other.first[found])

    def ranked(self, least: int = 1) -> list[tuple[Look, int]]:
        """The groups with at least so many failures, the largest first."""
        groups = [(found, count) for found, count in self.counts.items() if count >= least]
        return sorted(groups, key=lambda pair: (-pair[1], pair[0].provider, pair[0].digest))

    def _count(self, found: Look, count: int, number: int) -> None:
        self.failures += count
        if found not in self.counts and len(self.counts) >= GROUPS:
            self.overflow += count
            return
        self.counts[found] = self.counts.get(found, 0) + count
        self.first.setdefault(found, number)


def look(decision: Decision) -> Look | None:
    """What a failure looks like; None where a rule knows it, or where there was no response."""
    verdict, reading = decision.verdict, decision.reading
    if verdict.layer != "default" or reading.phase in ("local", "transport"):
        return None
    return Look(
        verdict.provider.lower(),
        reading.status,
        tuple(map(str, reading.code)),
        tuple(map(str, reading.type)),
        normal(reading.message[0] if reading.message else ""),
        verdict.reason,
    )


def normal(message: str) -> str:
    """A message without what differs from one failure to the next: addresses, ids, numbers."""
    text = fold(message[: 4 * LENGTH])
    for passing, hole in _PASSING:
        text = passing.sub(hole, text)
    return text[:LENGTH].strip()
