"""Which headers pass, in each direction. Everything passes but what a rule here names."""

from __future__ import annotations

from .request import Pairs
from .target import Target

# RFC 9110 7.6.1: these, and what `Connection` names, are between two neighbours only.
HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
# Of the client's: what is set anew for the upstream, and its own credentials, which are for this gateway alone.
NOT_UP = HOP_BY_HOP | {
    b"host",
    b"content-length",
    b"accept-encoding",
    b"expect",
    b"authorization",
    b"x-api-key",
    b"x-goog-api-key",
    b"api-key",
    b"cookie",
    b"x-session-id",
    b"x-codex-session-id",
}
# Of the upstream's: what the server sets itself, and cookies, which belong to the account and not to the client.
NOT_DOWN = HOP_BY_HOP | {b"date", b"set-cookie", b"content-length"}
OURS = b"x-faultwise-"


def up(headers: Pairs, target: Target) -> list[tuple[bytes, bytes]]:
    """The headers of an upstream request."""
    own = {name for name, _ in target.connection.headers}
    dropped = NOT_UP | own | _named(headers)
    sent = [pair for pair in headers if pair[0] not in dropped and not pair[0].startswith(OURS)]
    # bytes must pass exactly as they come, so they have to come readable
    sent.append((b"accept-encoding", b"identity"))
    sent += target.connection.headers
    if target.credential is not None:
        sent.append(target.credential)
    return sent


def down(headers: Pairs) -> list[tuple[bytes, bytes]]:
    """The headers of an upstream's answer that reach the client."""
    dropped = NOT_DOWN | _named(headers)
    return [(name, value) for name, value in headers if name not in dropped and not name.startswith(OURS)]


def _named(headers: Pairs) -> frozenset[bytes]:
    for name, value in headers:
        if name == b"connection":
            return frozenset(one.strip().lower() for one in value.split(b","))
    return frozenset()
