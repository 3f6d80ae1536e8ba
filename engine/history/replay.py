"""Recorded failures, decided again: against the verdict recorded with each, or by two policies side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from faultwise.engine.failure.record import Failure
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import decide

from .change import Change, Tally, change
from .log import Recorded, read


@dataclass(slots=True)
class Part:
    """What came of some lines: the tally, each change, each line that could not be read."""

    tally: Tally = field(default_factory=Tally)
    changes: list[Change] = field(default_factory=list)
    unreadable: list[Recorded] = field(default_factory=list)


def replay(new: Policy, lines: Iterable[tuple[int, bytes]], now: float, old: Policy | None = None) -> Part:
    """Decide numbered lines with a policy and compare: with what `old` says, or with the recorded verdicts.

    A line without a recorded verdict is decided, and counted by its reason. Keeps the changes; give it lines in parts.
    """
    part = Part()
    for recorded in readable(lines, now):
        part.tally.lines += 1
        if recorded.failure is None:
            part.tally.unreadable += 1
            part.unreadable.append(recorded)
            continue
        after = decide(new, recorded.failure).to_json()
        part.tally.reasons[after["reason"]] += 1
        before = _before(recorded.failure, recorded.verdict, old)
        if before is not None:
            found = change(recorded.number, before, after)
            part.tally.note(found)
            part.changes += () if found is None else (found,)
    return part


def readable(lines: Iterable[tuple[int, bytes]], now: float) -> Iterator[Recorded]:
    """Each line that is not empty, those about outcomes left out."""
    found = (read(line, number, now) for number, line in lines if line.strip())
    return (recorded for recorded in found if not recorded.outcome)


def _before(failure: Failure, verdict: Mapping[str, Any] | None, old: Policy | None) -> Mapping[str, Any] | None:
    return verdict if old is None else decide(old, failure).to_json()
