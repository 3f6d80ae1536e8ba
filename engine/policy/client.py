"""Kinds of client, and how each is best told what happened: restatement outward.

A profile changes how the truth is put, never the truth: what it does not pass on as it is, is said elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from faultwise import dsl
from faultwise.engine.failure.record import Headers

from .model import Origin, StatusSet


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asked: the request's headers, the wire it speaks and the endpoint it called."""

    headers: Headers = field(default_factory=Headers)
    wire: str | None = None
    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """What there is to tell: what a client is told of which nothing is known. Waits are seconds; None is unknown."""

    status: int
    reason: str
    fault: str | None = None
    temporary: bool | None = None
    retry_after: float | None = None
    code: str | None = None
    type: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Telling:
    """A truth and the caller it is told to: what the conditions of a client's restatements look at."""

    caller: Caller
    truth: Truth

    @cached_property
    def text(self) -> str:
        """Code, type and message, a line each."""
        truth = self.truth
        return "\n".join(part for part in (truth.code, truth.type, truth.message) if part)

    @cached_property
    def folded(self) -> str:
        """The same, folded."""
        return dsl.fold(self.text)


@dataclass(frozen=True, slots=True)
class ClientRestatement:
    """How one kind of truth is told. None: as it is."""

    id: str
    statuses: StatusSet
    holds: Callable[[Telling], bool]
    origin: Origin
    to: int | None = None
    code: str | None = None
    type: str | None = None
    retry_after: Callable[[Telling], float | None] | None = None  # seconds told at most; None from it: told none
    hint: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """A kind of client. Restatements are in the order in which they are tried."""

    id: str
    recognises: Callable[[Caller], bool]
    origin: Origin
    wire: str | None = None
    restatements: tuple[ClientRestatement, ...] = ()
    why: str = ""


GENERIC = Client("generic", lambda caller: True, Origin("built in"))
