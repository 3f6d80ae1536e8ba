"""The circuit of one provider at one host: four states and what leads from one to the next.

    CLOSED     everything passes
    DEGRADED   everything passes, but others are asked first
    OPEN       nothing passes until its wait is over
    HALF_OPEN  one probe passes at a time; its outcome decides

Pure. Outcomes are counted in a sliding window; a state is brought up to date whenever it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from .lock import CLOCK_SLACK, Lock
from .thresholds import BreakerLimits
from .window import Window, added, totals

CLOSED, DEGRADED, OPEN, HALF_OPEN = "CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"
NEXT = {
    CLOSED: {"some failures": DEGRADED, "many failures": OPEN, "stated wait": OPEN},
    DEGRADED: {"few failures": CLOSED, "many failures": OPEN, "stated wait": OPEN},
    OPEN: {"wait over": HALF_OPEN, "stated wait": OPEN, "success": CLOSED},
    HALF_OPEN: {"success": CLOSED, "failure": OPEN, "stated wait": OPEN},
}
TRANSITIONS = 20  # kept, the newest last


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of state and why it came about."""

    at: float
    before: str
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class Breaker:
    """One circuit. Times are float seconds since the epoch, UTC."""

    key: str
    provider: str
    host: str
    egress: str | None = None  # of a way out: its network failures are counted here
    state: str = CLOSED
    opened: float = 0.0  # when it last opened
    until: float = 0.0  # when an open one lets a probe through
    known: bool = False  # that end was stated, not made up
    cycles: int = 0  # failed probes in a row
    reason: str = ""
    rule: str | None = None
    status: int | None = None
    window: Window = ()
    transitions: tuple[Transition, ...] = ()

    @property
    def calm(self) -> bool:
        """Whether it lets everything pass as usual."""
        return self.state == CLOSED

    def lock(self) -> Lock:
        """The lock that an open circuit is for those it keeps out."""
        return Lock(
            key=self.key,
            scope="egress" if self.egress is not None else "provider",
            provider=self.provider,
            connection=None,
            model=None,
            reason=self.reason,
            rule=self.rule,
            status=self.status,
            since=self.opened,
            until=self.until,
            known=self.known,
            temporary=True,
            wait_ok=True,
        )

    def to_json(self) -> dict[str, Any]:
        """The breaker as the management API shows it."""
        shown = asdict(self) | {"failures": sum(failures for _, failures, _ in self.window)}
        del shown["window"]
        return shown

    def to_data(self) -> dict[str, Any]:
        """The breaker as a store keeps it."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        kept["window"] = [list(one) for one in self.window]
        kept["transitions"] = [[one.at, one.before, one.after, one.why] for one in self.transitions]
        return kept

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Breaker:
        """The breaker a store kept; what a newer version added is left out."""
        kept = {name: data[name] for name in _FIELDS if name in data}
        kept["window"] = tuple((one[0], one[1], one[2]) for one in data.get("window", ()))
        kept["transitions"] = tuple(Transition(*one) for one in data.get("transitions", ()))
        return cls(**kept)


_FIELDS = tuple(field.name for field in fields(Breaker))


@dataclass(frozen=True, slots=True)
class Blow:
    """One failure of the provider, as it bears on its circuit. `stated`: seconds it asked to be left alone."""

    started: float
    now: float
    reason: str
    rule: str | None
    status: int | None
    counts: bool = True
    stated: float | None = None


def current(breaker: Breaker, limits: BreakerLimits, now: float, tally: Mapping[int, int] | None = None) -> Breaker:
    """The breaker as it is now. `tally`: outcomes of this process that its window does not hold yet."""
    if breaker.state == OPEN:
        if now < breaker.opened - CLOCK_SLACK:  # the clock was put back: it stays open as long as it would have
            length = breaker.until - breaker.opened
            return replace(breaker, opened=now, until=now + length)
        if now >= breaker.until:
            return _to(breaker, "wait over", now, f"after {breaker.until - breaker.opened:.0f} s")
    if breaker.state == DEGRADED and not _reached(breaker.window, limits.degraded_at, limits, now, tally):
        return _to(breaker, "few failures", now, "the window fell below its threshold")
    return breaker


def failed(breaker: Breaker, limits: BreakerLimits, blow: Blow, tally: Mapping[int, int]) -> Breaker:
    """The breaker after a failure. Those of attempts that started before it opened only say how long to wait."""
    now = blow.now
    breaker = current(breaker, limits, now, tally)
    if breaker.state in (CLOSED, DEGRADED):
        window = added(breaker.window, tally, blow.counts, now, limits.window)
        breaker = replace(breaker, window=window)
    if blow.stated is not None:
        return _stated(breaker, blow, blow.stated)
    if not blow.counts:
        return breaker
    if breaker.state == HALF_OPEN and blow.started >= breaker.opened:
        cycles = breaker.cycles + 1
        return _open(breaker, "failure", blow, _reset(limits, cycles), cycles, f"the probe failed: {blow.reason}")
    if breaker.state in (OPEN, HALF_OPEN):
        return breaker
    failures, outcomes = totals(breaker.window, {}, now, limits.window)
    if _reached(breaker.window, limits.opens_at, limits, now):
        why = f"{failures} of {outcomes} failed within {limits.window:.0f} s, the last with {blow.reason}"
        return _open(breaker, "many failures", blow, _reset(limits, 0), 0, why)
    if breaker.state == CLOSED and _reached(breaker.window, limits.degraded_at, limits, now):
        why = f"{failures} of {outcomes} failed within {limits.window:.0f} s"
        return _to(replace(breaker, reason=blow.reason), "some failures", now, why)
    return breaker


def succeeded(breaker: Breaker, limits: BreakerLimits, started: float, now: float) -> Breaker:
    """The breaker after a success. One that started before it opened says nothing about it."""
    breaker = current(breaker, limits, now)
    if breaker.state in (CLOSED, DEGRADED) or started < breaker.opened:
        return breaker
    return _to(replace(breaker, cycles=0, window=(), known=False), "success", now, "a request was answered")


def _reached(
    window: Window,
    threshold: int | None,
    limits: BreakerLimits,
    now: float,
    tally: Mapping[int, int] | None = None,
) -> bool:
    if threshold is None:
        return False
    failures, outcomes = totals(window, tally or {}, now, limits.window)
    return failures >= threshold and failures >= limits.ratio * outcomes


def _reset(limits: BreakerLimits, cycles: int) -> float:
    doublings = max(0, cycles - limits.grows_after)
    return limits.reset * min(2.0 ** min(doublings, 32), float(max(1, limits.grows_to)))


def _stated(breaker: Breaker, blow: Blow, seconds: float) -> Breaker:
    until = blow.now + seconds
    if breaker.state == OPEN and breaker.until >= until:
        return breaker
    if breaker.state == OPEN and blow.started < breaker.opened:
        return replace(breaker, until=until, known=True)
    why = f"the upstream asked for {seconds:.0f} s: {blow.reason}"
    return replace(_open(breaker, "stated wait", blow, seconds, breaker.cycles, why), known=True)


def _open(breaker: Breaker, event: str, blow: Blow, seconds: float, cycles: int, why: str) -> Breaker:
    return replace(
        _to(breaker, event, blow.now, why),
        opened=blow.now,
        until=blow.now + seconds,
        known=False,
        cycles=cycles,
        reason=blow.reason,
        rule=blow.rule,
        status=blow.status,
        window=(),
    )


def _to(breaker: Breaker, event: str, now: float, why: str) -> Breaker:
    after = NEXT[breaker.state][event]
    step = Transition(now, breaker.state, after, f"{event}: {why}")
    return replace(breaker, state=after, transitions=(*breaker.transitions, step)[-TRANSITIONS:])
