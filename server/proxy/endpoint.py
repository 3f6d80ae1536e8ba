"""What can be asked, in which wire, and where that stands below an upstream's address. Adding a path is adding a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_VERSION = re.compile(r"v\d+(?:(?:alpha|beta)\d*)?")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One proxied path. `name` is what a connection's `endpoints` list says."""

    name: str
    wire: str
    path: str  # as a route
    billed: bool = False  # sending it twice may cost or do twice: not sent again after a timeout


ENDPOINTS = (
    Endpoint("chat", "openai", "/v1/chat/completions"),
    Endpoint("completions", "openai", "/v1/completions"),
    Endpoint("embeddings", "openai", "/v1/embeddings"),
    Endpoint("responses", "openai", "/v1/responses"),
    Endpoint("rerank", "openai", "/v1/rerank"),
    Endpoint("images", "openai", "/v1/images/generations", billed=True),
    Endpoint("audio", "openai", "/v1/audio/{action}", billed=True),
    Endpoint("messages", "anthropic", "/v1/messages"),
    Endpoint("count_tokens", "anthropic", "/v1/messages/count_tokens"),
    Endpoint("generate", "gemini", "/v1beta/models/{name:path}"),
)

# The header a wire's own SDK puts its key into, and what stands before the key there.
CREDENTIALS = {
    "openai": (b"authorization", b"Bearer "),
    "anthropic": (b"x-api-key", b""),
    "gemini": (b"x-goog-api-key", b""),
}
BEARER = CREDENTIALS["openai"]


def root(base_url: str, wire: str) -> str:
    """The address below which a wire's paths stand: with its version for `openai`, without for the others.

    What was left out or written too much is forgiven: `https://api.example` and `https://api.example/v1/` are one.
    """
    base = base_url.rstrip("/")
    segments = urlsplit(base).path.split("/")
    if wire == "openai":
        return base if any(map(_VERSION.fullmatch, segments)) else f"{base}/v1"
    return base.rsplit("/", 1)[0] if _VERSION.fullmatch(segments[-1]) else base


def address(root: str, endpoint: Endpoint, path: str, model: str) -> str:
    """The upstream URL of a request that came in at `path`, without its query."""
    if endpoint.wire == "openai":
        return root + path.removeprefix("/v1")
    if endpoint.wire == "gemini":
        return f"{root}/v1beta/models/{quote(model, safe='/')}:{action(path)}"
    return root + path


def action(path: str) -> str:
    """What a Gemini path asks of its model: `generateContent`, `streamGenerateContent`, …"""
    return path.rpartition(":")[2]
