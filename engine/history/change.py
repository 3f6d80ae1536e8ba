"""Where two verdicts on one failure differ, and a tally of many such differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isclose
from typing import Any

# What follows from a verdict. Which rule said so, and what was read on the way, is no difference.
DECISIONS = ("reason", "scope", "status", "temporary", "terminal", "fallback")
WAITS = {"cooldown_s": "cooldown", "retry_after_s": "retry_after"}
FIELDS = (*DECISIONS, *WAITS)

Verdict = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One failure on which two verdicts differ."""

    number: int  # of the line
    id: str | None
    provider: str
    upstream_status: int | None
    before: Mapping[str, Any]  # the fields that differ, and `rule`
    after: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The change as JSON-ready data."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __str__(self) -> str:
        parts = [f"{name} {_shown(old)} -> {_shown(self.after[name])}" for name, old in self.before.items()]
        head = f"line {self.number}" + (f" ({self.id})" if self.id else "")
        return f"{head}  {self.provider or '-'} {self.upstream_status or '-'}  {'; '.join(parts)}"


def change(number: int, before: Verdict, after: Verdict) -> Change | None:
    """How two verdicts differ; None where they decide alike. A field that the first does not have is not compared."""
    differing = [name for name in FIELDS if name in before and not _same(before[name], after.get(name))]
    if not differing:
        return None
    shown = [*differing, *(("rule",) if before.get("rule") != after.get("rule") else ())]
    return Change(
        number,
        after.get("id"),
        str(after.get("provider") or ""),
        after.get("upstream_status"),
        {name: before.get(name) for name in shown},
        {name: after.get(name) for name in shown},
    )


@dataclass(slots=True)
class Tally:
    """How many lines, and what changed. Tallies of parts add up to the tally of the whole."""

    lines: int = 0
    unreadable: int = 0
    compared: int = 0
    changed: int = 0
    by_field: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # field, before, after -> failures
    reasons: Counter[str] = field(default_factory=Counter)  # reason now -> failures

    def note(self, found: Change | None) -> None:
        """Count one comparison."""
        self.compared += 1
        if found is None:
            return
        self.changed += 1
        for name, old in found.before.items():
            if name in FIELDS:
                self.by_field[WAITS.get(name, name), *_step(name, old, found.after[name])] += 1

    def add(self, other: Tally) -> None:
        """Count what another tally has counted."""
        self.lines += other.lines
        self.unreadable += other.unreadable
        self.compared += other.compared
        self.changed += other.changed
        self.by_field += other.by_field
        self.reasons += other.reasons

    def to_json(self) -> dict[str, Any]:
        """The tally as JSON-ready data."""
        return {
            "lines": self.lines,
            "unreadable": self.unreadable,
            "compared": self.compared,
            "changed": self.changed,
            "by_field": [
                {"field": name, "before": old, "after": new, "count": count}
                for (name, old, new), count in _ranked(self.by_field)
            ],
            "reasons": dict(_ranked(self.reasons)),
        }


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, (int, float)) and isinstance(new, (int, float)) and not isinstance(old, bool):
        return isclose(old, new, rel_tol=1e-3, abs_tol=0.05)
    return bool(old == new)


def _step(name: str, old: Any, new: Any) -> tuple[str, str]:
    """Waits are many; what matters of them is their direction."""
    if name not in WAITS or not isinstance(old, (int, float)) or not isinstance(new, (int, float)):
        return (_kind(name, old), _kind(name, new))
    return ("a wait", "a longer one" if new > old else "a shorter one")


def _kind(name: str, value: Any) -> str:
    return "a wait" if name in WAITS and value is not None else _shown(value)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{round(value, 3):.15g}" if isinstance(value, float) else str(value)


def _ranked(counts: Counter[Any]) -> list[tuple[Any, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
