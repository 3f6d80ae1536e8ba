"""Which headers pass, in each direction. Everything passes but what a rule here names."""

from __future__ import annotations

from collections.abc import Iterable

from faultwise.server.secret import masked

from .request import Pairs

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
COMMON = (b"keep-alive", b"close")  # values of `connection` that name nothing which is not dropped anyway


def up(headers: Pairs, dropped: frozenset[bytes], own: Pairs) -> list[tuple[bytes, bytes]]:
    """The headers of an upstream request: the client's without what is dropped, and the connection's own."""
    if named := _named(headers):
        dropped = dropped | named
    sent = [pair for pair in headers if pair[0] not in dropped and not pair[0].startswith(OURS)]
    sent += own
    return sent


def down(headers: Pairs, hidden: Iterable[str] = ()) -> list[tuple[bytes, bytes]]:
    """The headers of an upstream's answer that reach the client, without those that quote what is `hidden`."""
    named = _named(headers)
    dropped = NOT_DOWN | named if named else NOT_DOWN
    passed = [pair for pair in headers if pair[0] not in dropped and not pair[0].startswith(OURS)]
    for secret in hidden:
        passed = [pair for pair in passed if pair[0] == b"content-type" or not _quotes(pair[1], secret)]
    return passed


def _quotes(value: bytes, secret: str) -> bool:
    if secret.encode() not in value:
        return False
    text = value.decode("utf-8", "replace")
    return masked(text, (secret,)) != text


def first(headers: Pairs, name: bytes) -> str:
    """The first value of a header, empty where there is none."""
    return next((value.decode("latin-1") for key, value in headers if key == name), "")


def _named(headers: Pairs) -> frozenset[bytes]:
    """What the `connection` headers name. Nobody's everyday `keep-alive` is worth a set of its own."""
    found: frozenset[bytes] = frozenset()
    for name, value in headers:
        if name == b"connection" and value.lower() not in COMMON:
            found |= {one.strip().lower() for one in value.split(b",")}
    return found
