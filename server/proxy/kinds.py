"""From an exception of the transport to the kind of failure it is. One table; the innermost cause that is in it wins."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator

import httpx

# Looked up along each exception's own ancestry, so a row speaks for its subclasses until one of them has its own row.
KINDS: dict[type[BaseException], str] = {
    # what the operating system says
    socket.gaierror: "dns",
    ssl.SSLError: "tls",
    ssl.CertificateError: "tls",
    ConnectionRefusedError: "refused",
    ConnectionResetError: "reset",
    ConnectionAbortedError: "reset",
    BrokenPipeError: "reset",
    asyncio.IncompleteReadError: "truncated",
    TimeoutError: "connect_timeout",
    OSError: "refused",
    # what httpx makes of it, where no cause says more
    httpx.ConnectTimeout: "connect_timeout",
    httpx.PoolTimeout: "connect_timeout",
    httpx.TimeoutException: "idle_timeout",
    httpx.ConnectError: "refused",
    httpx.ProxyError: "refused",
    httpx.UnsupportedProtocol: "refused",
    httpx.NetworkError: "reset",
    httpx.ProtocolError: "truncated",
    httpx.DecodingError: "bad_encoding",
    httpx.TooManyRedirects: "reset",
    httpx.HTTPError: "reset",
    httpx.InvalidURL: "refused",
    httpx.StreamError: "truncated",
}
FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError)


def kind(error: BaseException, waiting: str = "idle_timeout") -> str:
    """The kind of failure an exception is. `waiting`: which deadline was running, for those that only say "timeout"."""
    found = "reset"
    for cause in _causes(error):
        named = next((KINDS[ancestor] for ancestor in type(cause).__mro__ if ancestor in KINDS), None)
        if named is not None:
            found = named
            break
    return waiting if found == "idle_timeout" else found


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and what caused it, the innermost first."""
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in chain:
        chain.append(at)
        at = at.__cause__
    return reversed(chain)
