"""One pooled client per upstream host, behind httpx's transport interface."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import cache, partial

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

READ_BUFFER = 32 * 1024  # bytes of a response held for a slow client before the upstream is paused
IDLE_CONNECTION = 15.0  # seconds a pooled connection may wait; longer, and the upstream is likely to have closed it
FIELD_LIMIT = 32 * 1024  # bytes of one response header
HEADER_LIMIT = 256  # response headers

Make = Callable[[], httpx.AsyncBaseTransport]


class Upstreams:
    """The transports in use, by scheme, host and port. `make` builds one; a test hands in its own."""

    def __init__(self, make: Make | None = None) -> None:
        self._make = make or partial(_transport, _context())
        self._transports: dict[tuple[bytes, bytes, int | None], httpx.AsyncBaseTransport] = {}

    async def send(self, request: httpx.Request) -> httpx.Response:
        """The head of the upstream's response; its body is still to be read. Raises what the transport raises."""
        origin = request.url.raw_scheme, request.url.raw_host, request.url.port
        transport = self._transports.get(origin)
        if transport is None:
            transport = self._transports[origin] = self._make()
        return await transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close every pooled connection."""
        transports, self._transports = tuple(self._transports.values()), {}
        for transport in transports:
            await transport.aclose()


@cache
def _context() -> ssl.SSLContext:
    """Whom to trust. Reading the certificates takes long enough to be noticed by a request: once, and before the first."""
    return httpx.create_ssl_context()


def _transport(context: ssl.SSLContext) -> httpx.AsyncBaseTransport:
    def session() -> aiohttp.ClientSession:
        # No cookie of one client's request may travel with another's; headers are ours alone to set.
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_CONNECTION, ssl=context),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            auto_decompress=False,
            read_bufsize=READ_BUFFER,
            max_line_size=FIELD_LIMIT,
            max_field_size=FIELD_LIMIT,
            max_headers=HEADER_LIMIT,
        )

    return AiohttpTransport(verify=context, client=session)
