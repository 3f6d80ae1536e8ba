"""The way to a target's upstream: all of a request to it that does not depend on the client's, bound once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote_to_bytes

import httpx

from .endpoint import Endpoint, address
from .headers import NOT_UP
from .request import Pairs
from .transport import Origin

PORTS = {"http": 80, "https": 443}
# What may stand in a request's first line as it is; everything else is written in percent (RFC 3986).
_PLAIN = re.compile(rb"[!-~]*")
_KEPT = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True)
class Outlet:
    """Where requests go, and the headers each of them carries. `dropped`: what a client's may not bring along."""

    origin: Origin
    host: bytes  # as the header says it
    prefix: str  # before a wire's paths
    headers: Pairs
    dropped: frozenset[bytes]

    def path(self, endpoint: Endpoint, path: str, model: str, query: bytes) -> bytes:
        """What a request that came in at `path` asks its upstream for, without the client's own `key`."""
        target = address(self.prefix, endpoint, path, model).encode()
        if query:
            kept = b"&".join(part for part in query.split(b"&") if part and not _is_key(part))
            target += b"?" + kept if kept else b""
        return target if _PLAIN.fullmatch(target) else quote_from_bytes(target, _KEPT).encode()


def _is_key(part: bytes) -> bool:
    """Whether a part of a query is the client's key, however its name is written."""
    return unquote_to_bytes(part.partition(b"=")[0].replace(b"+", b" ")) == b"key"


def outlet(root: str, headers: Pairs, credential: tuple[bytes, bytes] | None) -> Outlet:
    """Bind an address and what is sent to it."""
    url = httpx.URL(root)
    own: Pairs = (*headers, credential) if credential is not None else headers
    return Outlet(
        origin=Origin(url.scheme == "https", url.raw_host.decode("ascii"), url.port or PORTS[url.scheme]),
        host=url.netloc,
        prefix=url.raw_path.decode("ascii").rstrip("/"),
        # bytes must pass exactly as they come, so they have to come readable
        headers=((b"accept-encoding", b"identity"), *own),
        dropped=NOT_UP | {name for name, _ in own},
    )
