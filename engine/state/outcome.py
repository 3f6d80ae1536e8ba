"""What came of one attempt, as everyone reports it: the proxy, other routers, tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .lock import Exclusion, Identity, Trial
from .thresholds import Thresholds

if TYPE_CHECKING:
    from faultwise.engine.policy.policy import Policy
    from faultwise.engine.verdict.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attempt's end. Times are seconds since the epoch; `draw` is chance in [0, 1).

    `verdict` of a failure; `ok` for a success; neither: it ended for reasons of ours, which says nothing about anybody.
    `trials`: permits it held, `owner` under whose name. `error`: the upstream's words, redacted.
    """

    identity: Identity
    limits: Thresholds
    started: float
    now: float
    draw: float = 0.0
    policy: Policy | None = None
    verdict: Verdict | None = None
    ok: bool = False
    trials: tuple[Trial, ...] = ()
    owner: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What one outcome did to one record. None where there was, or is, none."""

    kind: str  # lock | breaker | gate
    key: str
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        """The change as the API shows it."""
        return {
            "kind": self.kind,
            "key": self.key,
            "before": None if self.before is None else self.before.to_json(),
            "after": None if self.after is None else self.after.to_json(),
        }


@dataclass(frozen=True, slots=True)
class View:
    """How a target stands now: what excludes it, or what must be acquired before it is tried, or nothing."""

    exclusion: Exclusion | None = None
    trials: tuple[Exclusion, ...] = ()  # each with its trial, and how it is told where it cannot be had
    degraded: bool = False
