"""The failure record: what was sent, what came back, when. Nothing here is interpreted.

A `Failure` is built once per attempt by whoever saw it (the proxy, the command line, the decision service, a case
in a rule file) and never changes. What it *says* is found by `reading.Reading`, lazily.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

BODY_LIMIT = 64 * 1024  # bytes of a body kept and read
REQUEST_LIMIT = 256 * 1024  # bytes of the client's request the echo guard compares with

PHASES = ("response", "body", "stream_start", "stream", "finish", "transport", "local")
TRANSPORT_KINDS = (
    "refused",
    "reset",
    "dns",
    "tls",
    "connect_timeout",
    "first_byte_timeout",
    "first_content_timeout",
    "idle_timeout",
    "slow_stream",
    "bad_encoding",
    "truncated",
)
LOCAL_KINDS = ("client_gone", "local_limit")
WIRES = ("openai", "anthropic", "gemini")
AUTHS = ("api_key", "oauth", "session", "local", "none")


class Headers:
    """Response headers: names compared without case, repeated values kept in order. Immutable."""

    __slots__ = ("_index", "_items")

    def __init__(self, items: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        pairs = items.items() if isinstance(items, Mapping) else items
        self._items = tuple((str(name), str(value)) for name, value in pairs)
        self._index: dict[str, tuple[str, ...]] | None = None

    @property
    def index(self) -> Mapping[str, tuple[str, ...]]:
        """Every value by its header's name in lower case, in the order of their first appearance."""
        index = self._index
        if index is None:
            lists: dict[str, list[str]] = {}
            for key, value in self._items:
                lists.setdefault(key.lower(), []).append(value)
            self._index = index = {key: tuple(values) for key, values in lists.items()}
        return index

    def all(self, name: str) -> tuple[str, ...]:
        """Every value of the header, in order; empty when it was not sent."""
        return self.index.get(name.lower(), ())

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first value of the header."""
        values = self.index.get(name.lower())
        return values[0] if values else default

    def names(self) -> tuple[str, ...]:
        """Lower-cased names, each once, in the order of their first appearance."""
        return tuple(self.index)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        return f"Headers({list(self._items)!r})"


@dataclass(frozen=True)
class Failure:
    """One attempt that may have failed, as it was seen.

    `status` is the HTTP status on the wire, None for transport and local failures. `body` is what was received, at most
    `BODY_LIMIT` bytes, still content-encoded if it was; of a stream, the events that were read. `now` is seconds since
    the epoch, UTC.
    """

    provider: str = ""
    now: float = 0.0
    status: int | None = None
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""
    phase: str = "response"
    kind: str | None = None  # of a transport or local failure
    connection: str | None = None
    model: str | None = None
    host: str | None = None
    egress: str | None = None
    wire: str = "openai"
    auth: str | None = None  # None: as the provider file says
    attempt: int = 1
    request: bytes | None = None  # what the client sent, for the echo guard
    id: str | None = None
