"""What a request to an upstream is, what its answer is, and whoever can turn one into the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

import httpx

from .request import Pairs


@dataclass(frozen=True, slots=True)
class Origin:
    """Where connections lead."""

    tls: bool
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One POST. `path` with its query, `headers` without `host` and `content-length`.

    `connect`: seconds for names, connection and handshake. `repeatable`: may be sent once more where a pooled connection
    turns out to be closed before anything of the answer came.
    """

    origin: Origin
    host: bytes  # as the header says it
    path: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    connect: float
    repeatable: bool = False


class Answer(Protocol):
    """The head of an answer, and its body piece by piece. Header names are in lower case."""

    @property
    def status(self) -> int:
        """The status code."""

    @property
    def headers(self) -> Pairs:
        """The headers in the order they came."""

    def ready(self) -> bytes | None:
        """The bytes that are here already, empty at the end; None where there are none yet."""

    async def read(self) -> bytes:
        """The next bytes, empty at the end. Raises what is in `kinds.FAILURES`."""

    async def close(self) -> None:
        """End the request, whatever state it is in."""


class Transport(Protocol):
    """The connections to one origin."""

    async def send(self, request: Outgoing) -> Answer:
        """The answer's head. Raises what is in `kinds.FAILURES`."""

    async def aclose(self) -> None:
        """Close every connection."""


Make = Callable[[], httpx.AsyncBaseTransport]


class Foreign:
    """A transport of httpx's interface, used as one of ours."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        self._transport = transport

    async def send(self, request: Outgoing) -> Answer:
        """Send it the way httpx would."""
        origin = request.origin
        url = httpx.URL(scheme="https" if origin.tls else "http", host=origin.host, port=origin.port)
        sent = httpx.Request(
            "POST",
            url.copy_with(raw_path=request.path),
            headers=[(b"host", request.host), *request.headers],
            content=request.body,
            extensions={"timeout": {"connect": request.connect, "pool": request.connect, "read": None, "write": None}},
        )
        return _ForeignAnswer(await self._transport.handle_async_request(sent))

    async def aclose(self) -> None:
        """Close it."""
        await self._transport.aclose()


class _ForeignAnswer:
    __slots__ = ("status", "headers", "_response", "_chunks")

    def __init__(self, response: httpx.Response) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream), "the transport is an asynchronous one"
        self.status = response.status_code
        self.headers: Pairs = tuple((name.lower(), value) for name, value in response.headers.raw)
        self._response = response
        self._chunks: AsyncIterator[bytes] = response.stream.__aiter__()

    def ready(self) -> bytes | None:
        return None

    async def read(self) -> bytes:
        async for chunk in self._chunks:
            if chunk:
                return chunk
        return b""

    async def close(self) -> None:
        await self._response.aclose()
