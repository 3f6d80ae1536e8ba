"""The window gate: a provider that failed too often within a window is left alone for a while. Opt-in.

Below the threshold nothing is cooling. The cooldown counts from the failure that tripped it; a success clears the
window. Meanwhile the provider's connections back off one by one. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from .lock import CLOCK_SLACK, Lock
from .thresholds import GateLimits


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of a provider at a host, or the entry of one of its connections."""

    key: str
    provider: str
    connection: str | None = None
    times: tuple[float, ...] = ()  # of failures within the window
    since: float = 0.0  # when it last closed
    until: float = 0.0
    level: int = -1
    reason: str = ""
    rule: str | None = None
    status: int | None = None

    @property
    def calm(self) -> bool:
        """Whether it never closed since the last success."""
        return self.until == 0.0

    def closes(self, now: float) -> bool:
        """Whether it keeps its provider or connection closed at `now`."""
        return now < self.until

    def lock(self) -> Lock:
        """The lock that a closed gate is for those it keeps out."""
        return Lock(
            key=self.key,
            scope="provider",
            provider=self.provider,
            connection=self.connection,
            model=None,
            reason=self.reason,
            rule=self.rule,
            status=self.status,
            since=self.since,
            until=self.until,
            known=False,
            temporary=True,
            wait_ok=True,
            level=max(0, self.level),
        )

    def to_json(self) -> dict[str, Any]:
        """The gate as the management API shows it."""
        shown = asdict(self) | {"failures": len(self.times)}
        del shown["times"]
        return shown

    def to_data(self) -> dict[str, Any]:
        """The gate as a store keeps it."""
        return {name: getattr(self, name) for name in self.__slots__} | {"times": list(self.times)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Gate:
        """The gate a store kept; what a newer version added is left out."""
        kept = {name: data[name] for name in _FIELDS if name in data}
        return cls(**kept | {"times": tuple(data.get("times", ()))})


_FIELDS = tuple(field.name for field in fields(Gate))


def current(gate: Gate, now: float) -> Gate:
    """The gate as it is now: put right after a clock was put back."""
    if gate.until and now < gate.since - CLOCK_SLACK:
        return replace(gate, since=now, until=now + (gate.until - gate.since), times=())
    return gate


def failed(gate: Gate, limits: GateLimits, now: float, reason: str, rule: str | None, status: int | None) -> Gate:
    """The provider's gate after a failure."""
    gate = current(gate, now)
    if gate.closes(now):
        return gate
    times = (*(at for at in gate.times if now - limits.window < at <= now), now)[-limits.failures :]
    if len(times) < limits.failures:
        return replace(gate, times=times)
    until = now + limits.cooldown
    return replace(gate, times=(), since=now, until=until, reason=reason, rule=rule, status=status)


def backed_off(
    gate: Gate,
    limits: GateLimits,
    started: float,
    now: float,
    draw: float,
    reason: str,
    rule: str | None,
    status: int | None,
) -> Gate:
    """A connection's entry after a failure: base x 2^level, jittered. Concurrent failures are one step."""
    gate = current(gate, now)
    if gate.level >= 0 and started < gate.since:
        return gate
    level = min(gate.level + 1, 10)
    longest = min(limits.base * 2.0**level, limits.max)
    floor = min(1.0, longest)
    until = max(gate.until, now + floor + (longest - floor) * draw)
    return replace(gate, since=now, until=until, level=level, reason=reason, rule=rule, status=status)
