"""One connection to an upstream and the exchanges on it, one after the other: HTTP/1.1 (RFC 9112), parsed by llhttp.

Reading is bounded: a connection whose answer is not fetched is paused. An answer that is given up ends its connection,
one that came whole leaves it for the next exchange.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol, cast

import httptools
import httpx

from .request import Pairs
from .transport import Outgoing

READ_BUFFER = 64 * 1024  # bytes of an answer held for a slow client before the upstream is paused
HEAD_LIMIT = 128 * 1024  # bytes of an answer's head
HEADER_LIMIT = 256  # headers of an answer
JOIN_LIMIT = 64 * 1024  # bytes; a bigger body is not copied behind its head
INTERIM = range(100, 200)
BODILESS = (204, 304)


class Stale(httpx.ReadError):
    """A pooled connection was closed before anything of the answer came."""


class Owner(Protocol):
    """Whoever keeps the connections."""

    def freed(self, channel: Channel) -> None:
        """The connection can take its next exchange."""

    def lost(self, channel: Channel) -> None:
        """The connection ended."""


class Exchange:
    """One request and its answer, in the form of `transport.Answer`."""

    __slots__ = ("status", "headers", "_channel", "_pieces", "_held", "_whole", "_error", "_waiter")

    def __init__(self, channel: Channel) -> None:
        self.status = 0  # until the head is here
        self.headers: Pairs = ()
        self._channel = channel
        self._pieces: deque[bytes] = deque()
        self._held = 0
        self._whole = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def ready(self) -> bytes | None:
        """The bytes that are here already, empty at the end; None where there are none yet."""
        if self._pieces:
            return self._taken()
        return b"" if self._whole else None

    async def read(self) -> bytes:
        """The next bytes, empty at the end."""
        while not self._pieces:
            if self._error is not None:
                raise self._error
            if self._whole:
                return b""
            await self._wait()
        return self._taken()

    async def close(self) -> None:
        """End the exchange; its connection too where the answer has not come whole."""
        if not self._whole:
            self._channel.abort()

    async def head(self) -> None:
        """Return when the head is here."""
        while not self.status:
            if self._error is not None:
                raise self._error
            await self._wait()

    async def _wait(self) -> None:
        self._waiter = self._channel.loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _taken(self) -> bytes:
        pieces = self._pieces
        taken = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        if self._held > READ_BUFFER and not self._whole:
            self._channel.flow(True)
        self._held = 0
        return taken

    # --- what the connection tells it

    def began(self, status: int, headers: Pairs) -> None:
        """The head is here."""
        self.status, self.headers = status, headers
        self._wake()

    def got(self, piece: bytes) -> None:
        """A piece of the body is here."""
        self._pieces.append(piece)
        self._held += len(piece)
        if self._held > READ_BUFFER:
            self._channel.flow(False)
        self._wake()

    def ended(self, error: Exception | None = None) -> None:
        """The body is whole, or nothing more will come."""
        if self._whole or self._error is not None:
            return
        self._whole, self._error = error is None, error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Channel(asyncio.Protocol):
    """A connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop, owner: Owner) -> None:
        self.loop = loop
        self.since = 0.0  # loop's time at which it became idle
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_size = 0
        self._in_head = True
        self._until_close = False  # the answer says neither its length nor its chunks: it ends with the connection
        self._paused = False
        self._used = False

    @property
    def usable(self) -> bool:
        """Whether an exchange may begin."""
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, request: Outgoing) -> Exchange:
        """Send a request; the exchange once the answer's head is here."""
        assert self._exchange is None and self._transport is not None, "one exchange at a time"
        exchange = self._exchange = Exchange(self)
        self._write(request)
        try:
            await exchange.head()
        except BaseException:
            self.abort()
            raise
        return exchange

    def abort(self) -> None:
        """Close the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def flow(self, on: bool) -> None:
        """Go on reading, or pause."""
        transport = self._transport
        if transport is None or transport.is_closing() or on is not self._paused:
            return
        self._paused = not on
        if on:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def _write(self, request: Outgoing) -> None:
        assert self._transport is not None, "connected"
        parts = [b"POST ", request.path, b" HTTP/1.1\r\nhost: ", request.host]
        for name, value in request.headers:
            parts += (b"\r\n", name, b": ", value)
        body = request.body
        parts += (b"\r\ncontent-length: ", b"%d" % len(body), b"\r\n\r\n")
        if len(body) <= JOIN_LIMIT:
            parts.append(body)
            self._transport.write(b"".join(parts))
        else:
            self._transport.write(b"".join(parts))
            self._transport.write(body)

    def _failed(self, error: Exception) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.ended(error)
        self.abort()

    # --- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are of no class of asyncio's

    def data_received(self, data: bytes) -> None:
        """Bytes came. Nothing may come unasked."""
        if self._exchange is None:
            self.abort()
            return
        if self._in_head:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._failed(httpx.RemoteProtocolError("the upstream changed the protocol"))
        except httptools.HttpParserError as error:
            cause = error.__context__ if isinstance(error.__context__, httpx.HTTPError) else error
            self._failed(httpx.RemoteProtocolError(f"what the upstream sent is not HTTP: {cause}"))
        else:
            if self._in_head and self._head_size > HEAD_LIMIT:
                self._failed(httpx.RemoteProtocolError("the answer's head is too large"))

    def connection_lost(self, error: Exception | None) -> None:
        """The connection ended."""
        self._transport = None
        self._owner.lost(self)
        exchange, self._exchange = self._exchange, None
        if exchange is None:
            return
        if error is None and exchange.status and self._until_close:
            exchange.ended()
        elif self._used and self._head_size == 0:
            exchange.ended(Stale(f"the pooled connection was closed: {error}"))
        elif error is not None or self._head_size == 0:
            lost = httpx.ReadError(f"the connection was lost: {error}")
            lost.__cause__ = error
            exchange.ended(lost)
        else:
            exchange.ended(httpx.RemoteProtocolError("the connection was closed before the answer was whole"))

    # --- httptools

    def on_message_begin(self) -> None:
        """An answer begins."""
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is here."""
        if len(self._headers) >= HEADER_LIMIT:
            raise httpx.RemoteProtocolError("the answer has too many headers")
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is here."""
        status = self._parser.get_status_code()
        if status in INTERIM or self._exchange is None:
            return
        if status < INTERIM.start:
            raise httpx.RemoteProtocolError(f"{status} is not a status")
        self._in_head = False
        self._until_close = status not in BODILESS and not any(
            name == b"content-length" or (name == b"transfer-encoding" and b"chunked" in value.lower())
            for name, value in self._headers
        )
        self._exchange.began(status, tuple(self._headers))

    def on_body(self, body: bytes) -> None:
        """A piece of the body is here."""
        if self._exchange is not None:
            self._exchange.got(body)

    def on_message_complete(self) -> None:
        """The answer is whole; one that was only an interim one is followed by another."""
        exchange = self._exchange
        if self._in_head or exchange is None:
            return
        self._exchange = None
        exchange.ended()
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._parser.should_keep_alive() and transport.get_write_buffer_size() == 0:
            self.flow(True)
            self._in_head, self._head_size, self._used = True, 0, True
            self._owner.freed(self)
        else:
            transport.close()
