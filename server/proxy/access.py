"""Who may come in: client keys on proxied paths, the admin token on the others, and no web page from elsewhere."""

from __future__ import annotations

import hmac
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

from faultwise.server.gateway import Key
from faultwise.server.settings import is_loopback

from .request import Pairs, Refused

ADMIN = b"x-faultwise-admin-token"
PRESENTED = (b"authorization", b"x-api-key", b"x-goog-api-key", b"api-key")


def client(headers: Pairs, query: bytes, keys: tuple[Key, ...], scope: str = "inference") -> Key | None:
    """The key a request presents; None where the server has none and is open to this machine alone.

    Raises `Refused`. Without keys a request that a browser sends for another site's page is refused.
    """
    if not keys:
        _same_machine(headers)
        return None
    presented = _presented(headers, query)
    digest = sha256(presented).digest()
    found = None
    for key in keys:
        # every key is compared, whichever matches, so that the time taken tells nothing
        if hmac.compare_digest(digest, key.digest):
            found = key
    if not presented or found is None:
        raise Refused(401, "a valid API key of this gateway is needed", "invalid_api_key")
    if scope not in found.scopes:
        raise Refused(403, f"this key does not have the scope `{scope}`", "insufficient_scope")
    return found


def admin(headers: Pairs, token: str, host: str) -> None:
    """Let management in: with the token, or, where none is set, from this machine. Raises `Refused`.

    `host`: what the server listens on. Without a token, `Host` and `Origin` must name this machine too.
    """
    if token:
        if not hmac.compare_digest(_presented(headers, b""), token.encode()):
            raise Refused(401, "the admin token is needed", "unauthorized")
        return
    if not is_loopback(host):
        raise Refused(403, "set FAULTWISE_ADMIN_TOKEN to manage a server that other machines can reach", "forbidden")
    named = _first(headers, b"host")
    if named and not is_loopback(_host(f"//{named}")):
        raise Refused(403, "the `Host` header names another machine", "forbidden")
    _same_machine(headers)


def administers(headers: Pairs, token: str) -> bool:
    """Whether a proxied request shows the admin token beside the client's own key."""
    shown = _first(headers, ADMIN)
    return bool(shown) and hmac.compare_digest(shown.encode("latin-1"), token.encode())


def presented(headers: Pairs, query: bytes) -> tuple[str, ...]:
    """Every credential a client presents, wherever it does: an upstream may quote them."""
    found = [_bare(value).decode("latin-1") for name, value in headers if name in PRESENTED]
    if query:
        found += parse_qs(query.decode("latin-1")).get("key", ())
    return tuple(filter(None, found))


def _bare(value: bytes) -> bytes:
    return value[7:].strip() if value[:7].lower() == b"bearer " else value


def _same_machine(headers: Pairs) -> None:
    origin = _first(headers, b"origin")
    if origin and not is_loopback(_host(origin)):
        raise Refused(403, "requests from pages of other sites are not served", "forbidden")


def _host(url: str) -> str:
    """The host an address names; empty where it names none or is no address."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _presented(headers: Pairs, query: bytes) -> bytes:
    for name in PRESENTED:
        value = _first(headers, name)
        if value:
            return _bare(value.encode("latin-1"))
    return parse_qs(query.decode("latin-1")).get("key", [""])[0].encode("latin-1", "replace")


def _first(headers: Pairs, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in headers if key == name), "")
