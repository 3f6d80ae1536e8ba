"""How right verdicts are on labelled failures.

A label says what a failure really was: `reason`, `scope`, `temporary`, `fallback`, `status`, `retry_after_s`. A row has
one in `expected` and may have others that are right too in `also_ok`. Lenient counts any whole label, strict the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

FOUR: Mapping[str, type] = {"reason": str, "scope": str, "temporary": bool, "fallback": bool}
WIDTH = {"request": 0, "model": 1, "model_family": 2, "connection": 3, "egress": 4, "host": 5, "provider": 5}
COARSE = {"model_family": "model", "egress": "connection", "host": "provider"}  # labels know no finer scopes
EXACT = ("exact", "trimmed")

Verdict = Mapping[str, Any]
Label = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Score:
    """One measure: how many of how many."""

    name: str
    right: int
    total: int

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return self.right / self.total

    def __str__(self) -> str:
        return f"{self.name:28} {self.right:4}/{self.total:<4} {self.share:6.1%}"


def score(pairs: Iterable[tuple[Mapping[str, Any], Verdict | None]]) -> tuple[Score, ...]:
    """Every measure over labelled rows and the verdicts on them; None for a row that got no verdict."""
    right: dict[str, int] = {}
    total: dict[str, int] = {}
    for row, verdict in pairs:
        for name, held in _measures(row, verdict or {}):
            right[name] = right.get(name, 0) + held
            total[name] = total.get(name, 0) + 1
    return tuple(Score(name, right[name], count) for name, count in total.items())


def agrees(verdict: Verdict, label: Label, fields: Iterable[str] = FOUR) -> bool:
    """Whether a verdict says what a label says, in all of the four decisions or in some."""
    return all(
        isinstance(verdict.get(field), FOUR[field]) and COARSE.get(verdict[field], verdict[field]) == label.get(field)
        for field in fields
    )


def labels(row: Mapping[str, Any]) -> list[Label]:
    """All labels of a row, the first one first. Raises ValueError where it has none."""
    first, others = (row.get("expected"), row.get("also_ok") or []) if isinstance(row, Mapping) else (None, [])
    if not isinstance(first, Mapping) or not all(isinstance(one, Mapping) for one in others):
        raise ValueError("a labelled failure has `expected`, and `also_ok` is a list")
    return [first, *others]


def _measures(row: Mapping[str, Any], verdict: Verdict) -> Iterator[tuple[str, bool]]:
    known = labels(row)
    right = any(agrees(verdict, label) for label in known)
    yield "four, lenient", right
    yield "four, strict", agrees(verdict, known[0])
    for field in FOUR:
        yield f"{field}, lenient", any(agrees(verdict, label, (field,)) for label in known)
    yield "status told, lenient", any(verdict.get("status") == label.get("status") for label in known)
    if row.get("misreported"):
        yield "four, misreported only", right
    if row.get("fidelity") in EXACT:
        yield "four, exact bodies only", right
    waits = [label.get("retry_after_s") for label in known]
    stated = verdict.get("stated_s")
    if waits[0] is not None:
        fits = any(_close(stated, wait) for wait in waits if wait is not None)
        yield "stated wait", fits or (None in waits and stated is None and bool(verdict))
    elif not any(waits):
        yield "no wait invented", bool(verdict) and stated is None
    if all(label.get("temporary") for label in known):
        yield "no ban on the temporary", bool(verdict) and verdict.get("terminal") is None
    widest = max(WIDTH.get(str(label.get("scope")), 9) for label in known)
    scope = str(verdict.get("scope"))
    yield "not locked too wide", WIDTH.get(COARSE.get(scope, scope), 9) <= widest


def _close(got: Any, wanted: float) -> bool:
    """Within 1 %, or 50 ms below ten seconds, else one second."""
    if not isinstance(got, (int, float)) or isinstance(got, bool):
        return False
    return abs(got - wanted) <= max(0.05 if abs(wanted) < 10 else 1.0, abs(wanted) * 0.01)
