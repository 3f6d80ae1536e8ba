"""What a client is told when no target could answer: chosen from the verdicts of the attempts and the reasons of the
targets that were not tried. Pure; the shape it takes in a wire is made in `answers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from faultwise.engine.failure.reading import Reading
from faultwise.engine.state.lock import Exclusion
from faultwise.engine.verdict.verdict import Verdict
from faultwise.server.secret import masked

from .target import Target

CODES = {"slow_stream": "STREAM_THROUGHPUT_TOO_LOW"}  # what we call a failure that nobody said anything about
MESSAGE_LIMIT = 2000  # characters of an upstream's message given on


@dataclass(frozen=True, slots=True)
class Said:
    """What the upstream itself said: its words, passed on."""

    message: str = ""
    code: str | None = None
    type: str | None = None
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Attempted:
    """One target that was asked and failed."""

    target: Target
    verdict: Verdict
    said: Said

    @property
    def digest(self) -> tuple[int | None, str]:
        """What makes two failures the same: status and words."""
        return self.verdict.status, " ".join(self.said.message.casefold().split())


@dataclass(frozen=True, slots=True)
class Excluded:
    """One target that was not asked, and why."""

    target: Target
    exclusion: Exclusion
    seconds: float | None = None  # to the end of what closes it, where known

    @property
    def because(self) -> dict[str, Any]:
        """What closed it, as far as the state knows."""
        lock = self.exclusion.lock
        return {} if lock is None else {"because": {"reason": lock.reason, "rule": lock.rule}}


@dataclass(slots=True)
class Ledger:
    """Everything that happened to one request so far."""

    attempted: list[Attempted] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    dispatched: int = 0  # attempts begun, the one that answers included

    @property
    def reasons(self) -> frozenset[str]:
        """Why the targets do not answer: those that failed, and those that something keeps closed."""
        locks = (one.exclusion.lock for one in self.excluded)
        return frozenset(
            (*(one.verdict.reason for one in self.attempted), *(lock.reason for lock in locks if lock is not None))
        )

    def diagnostics(self, terminal_reason: str) -> dict[str, Any]:
        """The part of an answer that says what happened, target by target."""
        return {
            "pool_size": len({one.target for one in self.attempted} | {one.target for one in self.excluded}),
            "attempted": len(self.attempted),
            "attempts": [
                {
                    "provider": one.target.provider,
                    "model": one.target.model,
                    "status": one.verdict.status,
                    "reason": one.verdict.reason,
                    "rule": one.verdict.rule,
                }
                for one in self.attempted
            ],
            "excluded": [
                {
                    "provider": one.target.provider,
                    "model": one.target.model,
                    "reason": one.exclusion.word,
                    "seconds": None if one.seconds is None else round(one.seconds, 3),
                    **one.because,
                }
                for one in self.excluded
            ],
            "terminal_reason": terminal_reason,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer that is no success. `reason` is a reason of the policy or one of the words of this module."""

    status: int
    reason: str
    said: Said
    rule: str | None = None
    retry_after: float | None = None
    restated: bool = False
    ours: bool = True  # the words are ours, not an upstream's

    @property
    def retry_after_header(self) -> int | None:
        """Whole seconds, never less than one."""
        return None if self.retry_after is None else max(1, ceil(self.retry_after))


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is known about one target that cannot answer now."""

    reason: str
    status: int
    temporary: bool
    wait_ok: bool
    left: float | None
    rule: str | None


def of_attempt(one: Attempted, retry_after: float | None = None) -> Outcome:
    """The outcome that is one attempt's own."""
    verdict = one.verdict
    said = one.said if one.said.message else Said(_sentence(verdict.reason, one.target.label), one.said.code)
    return Outcome(
        status=verdict.status or 502,
        reason=verdict.reason,
        said=said,
        rule=verdict.rule,
        retry_after=retry_after if retry_after is not None else verdict.retry_after_s,
        restated=verdict.status != verdict.upstream_status,
        ours=not one.said.message,
    )


def outcome(ledger: Ledger, late: bool = False) -> Outcome:
    """The outcome of a request for which every target was tried or excluded. `late`: its own deadline ended it."""
    kinds = [*map(_attempted, ledger.attempted), *(_locked(one) for one in ledger.excluded if one.exclusion.lock)]
    if late:
        return Outcome(504, "deadline_exceeded", Said("the request's deadline passed before a target answered"))
    if not kinds:
        message = "no target can serve this request: none is configured for it that this key may use"
        return Outcome(404, "no_executable_targets", Said(message, "no_executable_targets"))
    soonest = min((kind.left for kind in kinds if kind.left is not None), default=None)
    single = len({kind.reason for kind in kinds}) == 1
    if ledger.attempted and single:
        return of_attempt(ledger.attempted[0], soonest)
    if all(kind.temporary and kind.wait_ok for kind in kinds):
        message = "every target is cooling down"
        return Outcome(503, "all_targets_cooling_down", Said(message, "all_targets_cooling_down"), retry_after=soonest)
    if single:
        kind = kinds[0]
        label = next(one.target.label for one in ledger.excluded if one.exclusion.lock)
        message = _sentence(kind.reason, label)
        return Outcome(kind.status, kind.reason, Said(message, kind.reason), kind.rule, soonest)
    status = 504 if any(kind.reason == "timeout" for kind in kinds) else 502
    return Outcome(status, "all_targets_failed", Said(_summary(ledger), "all_targets_failed"))


def said(reading: Reading, hidden: Iterable[str] = ()) -> Said:
    """The upstream's own words in a response, innermost first, bounded, without the credentials it may quote."""

    def first(values: Sequence[str]) -> str | None:
        return masked(values[0], hidden) if values else None

    message = first(reading.message) or ""
    code = first(reading.code) or CODES.get(reading.kind or "")
    return Said(message[:MESSAGE_LIMIT], code, first(reading.type), first(reading.param))


def _attempted(one: Attempted) -> _Kind:
    verdict = one.verdict
    return _Kind(
        verdict.reason,
        verdict.status or 502,
        verdict.temporary,
        verdict.wait_ok,
        verdict.retry_after_s,
        verdict.rule,
    )


def _locked(one: Excluded) -> _Kind:
    lock = one.exclusion.lock
    assert lock is not None, "an exclusion without a lock has no kind"
    temporary = lock.temporary and lock.terminal is None
    return _Kind(lock.reason, lock.status or 503, temporary, lock.wait_ok, one.seconds, lock.rule)


def _sentence(reason: str, label: str) -> str:
    return f"{label}: {reason.replace('_', ' ')}"


def _summary(ledger: Ledger) -> str:
    parts = [
        f"{one.target.label}: {one.verdict.status} {one.said.message or one.verdict.reason}" for one in ledger.attempted
    ]
    parts += [f"{one.target.label}: {one.exclusion.word}" for one in ledger.excluded]
    return f"no target could answer; {'; '.join(part[:200] for part in parts)}"[:MESSAGE_LIMIT]
