"""What a gateway is made of, as `gateway.yaml` declares it: connections, combos, keys, deadlines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from .secret import Secret

CREDENTIAL_PARTS = (b"auth", b"key", b"token", b"secret", b"cookie")  # of the names of headers that open something


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds. `first_byte` counts from dispatch to the head of the answer, `first_content` from there."""

    connect: float = 5.0
    first_byte: float = 60.0
    first_content: float = 60.0
    idle: float = 60.0
    total: float = 600.0  # of a request, all its attempts together


@dataclass(frozen=True, slots=True)
class Connection:
    """One account at one address. None in `endpoints`: it has all of its wire's."""

    id: str
    provider: str
    base_url: str
    wire: str = "openai"
    secret: Secret | None = None
    auth: str | None = None
    endpoints: frozenset[str] | None = None
    models: tuple[str, ...] = ()
    headers: tuple[tuple[bytes, bytes], ...] = ()  # sent with each request
    egress: str | None = None
    weight: float = 1.0  # under `weighted`
    max_concurrent: int | None = None
    rpm: int | None = None  # requests a minute
    tpm: int | None = None  # tokens a minute
    quota_cutoff: float | None = None  # the share of a quota's window that is kept
    cooling: bool = True
    profile: Mapping[str, Any] = field(default_factory=dict, hash=False)  # thresholds of its own, waits in seconds
    deadlines: Deadlines = Deadlines()

    @property
    def hidden(self) -> tuple[str, ...]:
        """What must not be told to anybody: its credential, and headers that hold one."""
        found = [self.secret.reveal()] if self.secret is not None else []
        found += [text.decode() for name, text in self.headers if any(part in name for part in CREDENTIAL_PARTS)]
        return tuple(filter(None, found))

    @property
    def host(self) -> str:
        """The host and port failures are told apart by."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Choice:
    """A target as a combo names it: one connection, or any of a provider's."""

    model: str
    connection: str | None = None
    provider: str | None = None
    weight: float | None = None  # None: the connection's


@dataclass(frozen=True, slots=True)
class Combo:
    """Targets under one name, and the order in which they are tried."""

    id: str
    targets: tuple[Choice, ...]
    strategy: str = "priority"


@dataclass(frozen=True, slots=True)
class Emergency:
    """Who answers, shorter, where every target failed for one of these reasons."""

    targets: tuple[Choice, ...]
    reasons: frozenset[str]
    max_tokens: int  # of an answer


@dataclass(frozen=True, slots=True)
class Key:
    """A client's key, as its hash. None in a list of what it may use: everything."""

    id: str
    digest: bytes
    scopes: frozenset[str] = frozenset({"inference"})
    allowed_connections: frozenset[str] | None = None
    allowed_combos: frozenset[str] | None = None
    rpm: int | None = None  # requests a minute
    tpm: int | None = None  # tokens a minute
