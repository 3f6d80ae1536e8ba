"""A lock: what is closed, why, and until when. And the identity of what was tried, from which lock keys are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

# How a closed target is told, by the scope of the lock that closes it.
EXCLUSIONS = {
    "provider": "provider_cooldown",
    "host": "provider_cooldown",
    "connection": "connection_cooldown",
    "egress": "egress_cooldown",
    "model_family": "model_lockout",
    "model": "model_lockout",
}
MODEL_SCOPES = ("model", "model_family")
HISTORY = 20  # past locks kept beside the present one
CLOCK_SLACK = 5.0  # seconds a lock may begin in the future before the clock counts as put back
OPERATOR = "operator"  # the reason of a lock that was set by hand


@dataclass(frozen=True, slots=True)
class Entry:
    """A past lock, as it is remembered. `until` is None for a state that had no end."""

    at: float
    reason: str
    rule: str | None
    status: int | None
    until: float | None
    terminal: str | None = None


@dataclass(frozen=True, slots=True)
class Streak:
    """Refused episodes of one reason in a row: how many, when the newest was refused, when its wait ends."""

    reason: str
    count: int
    at: float
    until: float


@dataclass(frozen=True, slots=True)
class Lock:
    """One record per thing that is, or was, closed. Times are float seconds since the epoch, UTC.

    A lock whose end has passed closes nothing, but keeps its level: only a success resets that. After one it is `clean`,
    and stays for its history.
    """

    key: str
    scope: str
    provider: str
    connection: str | None
    model: str | None
    reason: str
    rule: str | None
    status: int | None  # what a client is told while this closes a target
    since: float
    until: float | None  # None: no end of its own; 0: clean
    known: bool  # the end was stated or declared, not made up here
    temporary: bool
    wait_ok: bool
    level: int = 0
    terminal: str | None = None
    recheck: float | None = None  # seconds between slow re-probes of a terminal state
    error: str = ""  # the upstream's words, redacted
    failed_at: float = 0.0
    history: tuple[Entry, ...] = ()
    streaks: tuple[Streak, ...] = ()
    secret: str | None = None  # a keyed hash of the credential that failed
    external: bool = False  # of another router's connection, not of the configuration

    @property
    def clean(self) -> bool:
        """Whether a success has wiped it: only history is left."""
        return self.until == 0.0

    def closes(self, now: float) -> bool:
        """Whether it keeps its target closed at `now`."""
        return self.until is None or now < self.until

    def left(self, now: float) -> float | None:
        """Seconds to its end; None where there is no end or none that is known."""
        return None if self.until is None or not self.known else max(0.0, self.until - now)

    def to_json(self) -> dict[str, Any]:
        """The lock as the management API shows it."""
        shown = asdict(self)
        for name in ("recheck", "secret", "streaks"):
            del shown[name]
        return shown | {"expires_at": self.until}

    def to_data(self) -> dict[str, Any]:
        """The lock as a store keeps it."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        kept["history"] = [list(map(one.__getattribute__, Entry.__slots__)) for one in self.history]
        kept["streaks"] = [list(map(one.__getattribute__, Streak.__slots__)) for one in self.streaks]
        return kept

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Lock:
        """The lock a store kept; what a newer version added is left out."""
        kept = {name: data[name] for name in _FIELDS if name in data}
        kept["history"] = tuple(Entry(*one) for one in data.get("history", ()))
        kept["streaks"] = tuple(Streak(*one) for one in data.get("streaks", ()))
        return cls(**kept)


_FIELDS = tuple(one.name for one in fields(Lock))


def anchored(lock: Lock, now: float) -> Lock:
    """The lock as it is after a clock was put back: as long as ever, from now on. One set by hand keeps its end."""
    if lock.until and now < lock.since - CLOCK_SLACK and lock.reason != OPERATOR:
        return replace(lock, since=now, until=now + (lock.until - lock.since), streaks=())
    return lock


@dataclass(frozen=True, slots=True)
class Trial:
    """What one request at a time may do though the target is closed: see whether it is open again.

    `seconds`: how long it may take; then another one may. `spent`: even once it has ended, no other may before that.
    """

    name: str
    key: str
    seconds: float
    spent: bool = False


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a target is not tried: one word, and the lock behind it where there is one. `trial`: what may change that."""

    word: str
    lock: Lock | None = None
    trial: Trial | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who would be, or was, asked: everything a lock can be keyed by."""

    provider: str
    connection: str
    model: str
    host: str
    egress: str | None = None
    family: str | None = None  # of the model, where the provider declares families
    cooling: bool = True  # False: transient failures lock nothing on this connection
    group: str | None = None  # of the provider: those of one group share the locks of an egress
    auth: str = "api_key"
    secret: str | None = None  # a keyed hash of the credential
    external: bool = False  # of another router, not of the configuration

    # Made once: every request reads them.
    account: str = field(init=False, compare=False)  # the connection, as lock keys name it
    circuit: str = field(init=False, compare=False)  # the provider at its host, as breakers are keyed
    way: str | None = field(init=False, compare=False)  # the way out towards the host, where one is declared
    hold: str = field(init=False, compare=False)  # the key of a lock that was set by hand

    def __post_init__(self) -> None:
        put = object.__setattr__  # it is frozen for everyone else
        put(self, "account", f"{self.provider}/{self.connection}")
        put(self, "circuit", f"{self.provider}@{self.host}")
        put(self, "way", None if self.egress is None else f"egress:{self.egress}@{self.host}")
        put(self, "hold", f"hold:{self.connection}")

    def key(self, scope: str) -> str:
        """The key of its lock of that scope, as verdicts name it.

        Without a family the model stands in; without an egress identity the connection: only the failing one is closed.
        """
        if scope in ("provider", "host"):
            return self.circuit
        if scope == "egress" and self.way is not None:
            return self.way
        if scope == "model_family" and self.family is not None:
            return f"{self.account}/family:{self.family}"
        if scope in MODEL_SCOPES:
            return f"{self.account}/{self.model}"
        return self.account

    def keys(self) -> tuple[str, ...]:
        """Every key that can close it, in the order of the gates."""
        scopes = ("connection", "egress", "model_family", "model")
        return tuple(dict.fromkeys((self.circuit, self.hold, *map(self.key, scopes))))
