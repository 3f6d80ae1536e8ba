"""A lock: what is closed, why, and until when. And the identity of what was tried, from which lock keys are made."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Lock:
    """One record per thing that is, or was, closed. Times are float seconds since the epoch, UTC.

    A lock whose end has passed closes nothing, but keeps its level: only a success resets that.
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
    until: float | None  # None: no end of its own
    known: bool  # the end was stated or declared, not made up here
    temporary: bool
    wait_ok: bool
    level: int = 0
    terminal: str | None = None
    recheck: float | None = None  # seconds between slow re-probes of a terminal state

    def closes(self, now: float) -> bool:
        """Whether it keeps its target closed at `now`."""
        return self.until is None or now < self.until

    def left(self, now: float) -> float | None:
        """Seconds to its end; None where there is no end or none that is known."""
        return None if self.until is None or not self.known else max(0.0, self.until - now)

    def to_json(self) -> dict[str, Any]:
        """The lock as the management API shows it."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "recheck"} | {"expires_at": self.until}


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why a target is not tried: one word, and the lock behind it where there is one."""

    word: str
    lock: Lock | None = None


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

    def key(self, scope: str) -> str:
        """The key of its lock of that scope, as verdicts name it.

        Without a family the model stands in; without an egress identity the connection: only the failing one is closed.
        """
        account = f"{self.provider}/{self.connection}"
        if scope in ("provider", "host"):
            return f"{self.provider}@{self.host}"
        if scope == "egress" and self.egress is not None:
            return f"egress:{self.egress}@{self.host}"
        if scope == "model_family" and self.family is not None:
            return f"{account}/family:{self.family}"
        if scope in ("model", "model_family"):
            return f"{account}/{self.model}"
        return account

    def keys(self) -> tuple[str, ...]:
        """Every key that can close it, in the order of the gates."""
        scopes = ("provider", "connection", "egress", "model_family", "model")
        return tuple(dict.fromkeys(map(self.key, scopes)))
