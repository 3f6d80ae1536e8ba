"""The nouns of a policy: reasons, providers, rules. Plain frozen data; nothing here reads a file or decides.

A policy is built by `load` from rule files, indexed by `index`, and read by `verdict`. Durations are float seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faultwise.engine.failure.reading import Reading

SCOPES = ("request", "model", "model_family", "connection", "egress", "host", "provider")
FAULTS = ("caller", "gateway", "network", "edge", "credential", "account", "model", "provider", "policy")
LAYERS = ("operator-provider", "shipped-provider", "operator-general", "shipped-general", "default")

Test = Callable[["Reading"], bool]
Seconds = Callable[["Reading"], "float | None"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was written. `shipped` files came with the package; all others are the operator's."""

    file: str
    line: int = 0
    column: int = 0
    shipped: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class StatusSet:
    """Statuses and transport kinds a rule speaks about: `[403, "4xx", "520-524", "refused"]`."""

    numbers: frozenset[int]
    kinds: frozenset[str] = frozenset()

    def __contains__(self, key: object) -> bool:
        return key in self.numbers or key in self.kinds


@dataclass(frozen=True, slots=True)
class Duration:
    """A declared wait: how it was written, and what it comes to for one failure (None: missing)."""

    source: str
    seconds: Seconds


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the conditions a rule joins with `and`: how it was written, and its test."""

    source: str
    test: Test


@dataclass(frozen=True, slots=True)
class Sign:
    """A value that must be there, and the test of it: of a field, or under a key of one."""

    field: str
    key: str  # empty: the field takes none
    test: Test


@dataclass(frozen=True, slots=True)
class Reason:
    """One row of the reasons table: what a kind of failure means and what follows from it."""

    name: str
    fault: str
    temporary: bool
    fallback: bool
    wait_ok: bool
    lock: str  # a scope, or `quota_unit`: the provider's unit
    status: int
    accepts: StatusSet
    cooldown: Duration | None  # None: backoff, which the state multiplies
    breaker: bool = False
    terminal: str | None = None
    locks: bool = True  # False where the fault is the caller's, ours or the policy's
    quota: bool = False  # a quota or an entitlement: `model` may widen to `model_family`
    steps: tuple[float, ...] = ()  # the waits of repeated episodes, for the state


@dataclass(frozen=True, slots=True)
class Rule:
    """A classification rule. `None` in an override means the reason decides."""

    id: str
    provider: str | None  # None: a general rule
    statuses: StatusSet
    conditions: tuple[Condition, ...]
    reason: str
    origin: Origin
    layer: str
    why: str = ""
    see: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    phases: frozenset[str] = frozenset()  # empty: every phase
    lock: str | None = None
    cooldown: Duration | None = None
    cap: float | None = None
    temporary: bool | None = None
    fallback: bool | None = None
    wait_ok: bool | None = None
    fault: str | None = None
    status: int | None = None
    terminal: str | None = None  # a terminal state, or "none": never terminal
    mode: str = "live"  # live | shadow
    expires: float | None = None  # seconds since the epoch
    needs: frozenset[str] | None = None  # folded markers of which `text` must hold one; None: no such set
    signs: tuple[Sign, ...] = ()  # or one of these must hold


@dataclass(frozen=True, slots=True)
class Restatement:
    """A status that does not mean what it says, and what it means."""

    id: str
    provider: str
    statuses: StatusSet
    to: int
    conditions: tuple[Condition, ...]
    origin: Origin
    why: str = ""
    see: tuple[str, ...] = ()
    phases: frozenset[str] = frozenset()
    retry_after: Duration | None = None
    needs: frozenset[str] | None = None
    signs: tuple[Sign, ...] = ()


@dataclass(frozen=True, slots=True)
class Clock:
    """When daily quotas refill: a local time of day in a zone."""

    hour: int
    minute: int
    zone: str


@dataclass(frozen=True, slots=True)
class Provider:
    """Who answered, and how its quotas are counted. Rules are in the order in which they are tried."""

    name: str
    aliases: tuple[str, ...] = ()
    auth: str = "api_key"
    quota_unit: str = "connection"
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    family: str | None = None
    reset: Clock | None = None
    stated: Mapping[str, Any] = field(default_factory=dict)  # per-provider clocks, as data for `failure.stated`
    restatements: tuple[Restatement, ...] = ()
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Terminal:
    """A state that only new credentials or an operator end, and when a verdict may name it."""

    name: str
    statuses: frozenset[int]  # upstream statuses that prove it
    codes: frozenset[str]  # folded codes and types that prove it at any status
    recheck: float | None = None  # seconds between slow re-probes; None: never
    refused: str | None = None  # the reason whose refusals in a row come to it
    refused_statuses: frozenset[int] = frozenset()  # upstream statuses of those refusals; empty: `statuses`
    episodes: int = 1  # refused episodes after which one more enters it
    within: float = 86400.0  # seconds after which they are counted anew


@dataclass(frozen=True, slots=True)
class Allowlists:
    """Which providers' *shipped* rules may read prose, bind their lock, widen to an egress. `*` means every one."""

    full_text: frozenset[str] = frozenset()
    lock_scope: frozenset[str] = frozenset()
    egress_bucketed: frozenset[str] = frozenset()
