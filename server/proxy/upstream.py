"""One pool of connections for each upstream origin."""

from __future__ import annotations

import ssl
from functools import cache

import httpx

from .transport import Answer, Foreign, Make, Origin, Outgoing, Transport
from .transport_pool import Pool


class Upstreams:
    """The transports in use, by origin. `make` builds one of httpx's interface, in place of our own."""

    def __init__(self, make: Make | None = None) -> None:
        self._make = make
        self._transports: dict[Origin, Transport] = {}
        context()  # reading the certificates takes long enough to be noticed: before the first request

    async def send(self, request: Outgoing) -> Answer:
        """The head of the upstream's answer; its body is still to be read. Raises what is in `kinds.FAILURES`."""
        transport = self._transports.get(request.origin)
        if transport is None:
            transport = self._transports[request.origin] = self._built(request.origin)
        return await transport.send(request)

    async def aclose(self) -> None:
        """Close every pooled connection."""
        transports, self._transports = tuple(self._transports.values()), {}
        for transport in transports:
            await transport.aclose()

    def _built(self, origin: Origin) -> Transport:
        return Pool(origin, context()) if self._make is None else Foreign(self._make())


@cache
def context() -> ssl.SSLContext:
    """Whom to trust: what httpx trusts, and the environment's `SSL_CERT_FILE` and `SSL_CERT_DIR`."""
    made = httpx.create_ssl_context()
    made.set_alpn_protocols(["http/1.1"])
    return made
