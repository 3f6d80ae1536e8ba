"""A line of the log: what a failed attempt, or a request that came to no good end, is told as.

A line about an attempt is what `classify --jsonl`, `replay`, `diff` and `unmatched` read: the failure, redacted and
bounded, with the verdict beside it. A line about an outcome holds no failure, and they pass over it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from faultwise.engine.verdict.decide import Decision

from .redact import Pattern, redacted

BODY_LIMIT = 4096  # characters of a body that are kept
READ_LIMIT = 4 * BODY_LIMIT  # and those that are read for them
HEADER_LIMIT = 256  # characters of a header's value
HEADERS_LIMIT = 48  # headers kept
# Headers that say something about a failure: these, and those whose name has such a part.
HEADERS = frozenset(("content-type", "date", "server", "via", "x-request-id"))
PARTS = ("retry", "limit", "quota", "reset", "remaining", "cf-", "error", "overload", "cooldown", "wait")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Keeping:
    """What is kept of a failure: whether its body, and which patterns are taken out of it."""

    bodies: bool = True
    patterns: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A failed attempt as the proxy saw it. `change` is what it did to the state, as data."""

    request_id: str
    endpoint: str
    target: str
    decision: Decision
    at: float
    generation: int
    change: tuple[Row, ...]
    secrets: tuple[str, ...]  # credentials that may not stand in the line, whatever they look like
    keeping: Keeping

    @property
    def weight(self) -> int:
        """Bytes it holds while it waits to be written."""
        failure = self.decision.reading.failure
        return len(failure.body) + len(failure.request or b"")

    def row(self) -> Row:
        """The line."""
        failure, reading = self.decision.reading.failure, self.decision.reading
        content = reading.content
        id = f"{self.request_id}/{failure.attempt}"
        # a body that could not be unpacked is told by its kind: the text it is kept as no longer shows it
        unpacked = not content.encoding_broken or reading.kind == failure.kind
        sent = failure.request or b""

        def clean(text: str) -> str:
            return redacted(text, sent, self.secrets, self.keeping.patterns)

        body = clipped(clean(_whole_words(content.text))) if self.keeping.bodies else ""
        return {
            "event": "attempt",
            "time": moment(self.at),
            "id": id,
            "request_id": self.request_id,
            "attempt": failure.attempt,
            "endpoint": self.endpoint,
            "target": self.target,
            "provider": failure.provider,
            "connection": failure.connection,
            "model": failure.model,
            "host": failure.host,
            "egress": failure.egress,
            "wire": failure.wire,
            "auth": failure.auth,
            "now": moment(failure.now),
            "status": failure.status,
            "phase": failure.phase if unpacked else reading.phase,
            "kind": failure.kind if unpacked else reading.kind,
            "headers": {name: clean(value[:HEADER_LIMIT]) for name, value in kept(failure.headers)},
            "body": body,
            "verdict": {**self.decision.verdict.to_json(), "id": id},
            "policy": self.decision.verdict.policy,
            "generation": self.generation,
            "state": list(self.change),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a request came to: told to the client, or would have been."""

    request_id: str
    endpoint: str
    model: str  # as the client named it
    target: str | None  # that answered, or was asked last
    status: int
    reason: str
    rule: str | None
    attempts: int
    failed: int
    excluded: tuple[Row, ...]
    retry_after: int | None
    size: int  # bytes sent
    seconds: float
    at: float
    policy: str
    generation: int
    keeping: Keeping
    weight: int = 0

    def row(self) -> Row:
        """The line."""
        return {
            "event": "outcome",
            "time": moment(self.at),
            "id": self.request_id,
            "request_id": self.request_id,
            "endpoint": self.endpoint,
            "target": self.target,
            "asked": redacted(self.model, patterns=self.keeping.patterns),
            "status": self.status,
            "reason": self.reason,
            "rule": self.rule,
            "attempts": self.attempts,
            "failed": self.failed,
            "excluded": list(self.excluded),
            "retry_after_s": self.retry_after,
            "bytes_sent": self.size,
            "seconds": round(self.seconds, 4),
            "policy": self.policy,
            "generation": self.generation,
        }


def kept(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers of a response that are kept, in lower case, the first of each name."""
    found: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if (lower in HEADERS or any(part in lower for part in PARTS)) and len(found) < HEADERS_LIMIT:
            # the body is kept as text, so its charset no longer holds
            found.setdefault(lower, value.split(";")[0] if lower == "content-type" else value)
    return list(found.items())


def moment(at: float) -> str:
    """RFC 3339, UTC, microseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def clipped(text: str) -> str:
    """The text, cut where it is longer than is kept."""
    return text if len(text) <= BODY_LIMIT else text[: BODY_LIMIT - 1] + "…"


def _whole_words(text: str) -> str:
    """As much of a text as is read: a word that is cut could hide the beginning of a credential."""
    if len(text) <= READ_LIMIT:
        return text
    cut = text[:READ_LIMIT]
    at = max(cut.rfind(" "), cut.rfind("\n"))
    return cut[: max(at, 0)]
