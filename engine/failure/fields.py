"""The names an expression may use: every field of a reading, with its type and what it is."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from faultwise.dsl import Clock, Environment, Field, Keyed, Type, fold, path

from .reading import Reading

Get = Callable[[Any], Any]


def _same(kind: Type, name: str, doc: str) -> Field:
    return Field(kind, attrgetter(name), doc=doc)


def _seconds(reading: Reading) -> float | None:
    return None if reading.stated is None else reading.stated.seconds


def _reset(reading: Reading) -> Clock | None:
    """When the provider's daily quotas refill, where its file says so."""
    reset = reading.declared.reset if reading.declared is not None else None
    return None if reset is None else Clock(reset.hour, reset.minute, reset.zone)


def _header(key: str) -> Get:
    name = key.strip().lower()
    if not name:
        raise ValueError("a header has a name")
    return lambda reading: reading.headers.get(name)


def _json(key: str) -> Get:
    """The value at a path: of the body, or else of the JSON found inside it."""
    find = path.compile(key)

    def value(reading: Reading) -> Any:
        for document in reading.documents:
            found = find(document)
            if found is not None and found != []:
                return found
        return None

    return value


def _request(key: str) -> Get:
    find = path.compile(key)
    return lambda reading: find(reading.request)


def _words(name: str, doc: str) -> Field:
    """Codes and the like: always what the upstream said, never an echo."""
    return Field(Type.STRINGS, attrgetter(name), attrgetter(f"{name}_folded"), doc=doc)


_PLAIN = {
    "status": _same(Type.INT, "status", "the effective status: restated, or what an error in a 200 stands for"),
    "upstream_status": _same(Type.INT, "upstream_status", "the status on the wire"),
    "inner_status": _same(
        Type.INT, "inner_status", "the status the innermost server names, where its error is relayed"
    ),
    "phase": _same(Type.STRING, "phase", "response, body, stream_start, stream, finish, transport or local"),
    "kind": _same(Type.STRING, "kind", "of a transport failure: refused, reset, dns, idle_timeout …"),
    "provider": _same(Type.STRING, "provider", "who answered"),
    "connection": _same(Type.STRING, "connection", "the account that was used"),
    "model": _same(Type.STRING, "model", "the model that was asked for"),
    "host": _same(Type.STRING, "host", "the upstream host"),
    "egress": _same(Type.STRING, "egress", "the way out that was taken"),
    "wire": _same(Type.STRING, "wire", "openai, anthropic or gemini"),
    "auth": _same(Type.STRING, "auth", "api_key, oauth, session, local or none, where the connection says"),
    "attempt": _same(Type.INT, "attempt", "which attempt of the request it was, from 1"),
    "now": _same(Type.FLOAT, "now", "when it was seen, in seconds since the epoch"),
    "stated": Field(Type.DURATION, _seconds, doc="the wait the upstream stated"),
    "reset": Field(Type.ANY, _reset, doc="when the provider's daily quotas refill, for `until reset`"),
    "code": _words("code", "the codes, innermost first"),
    "type": _words("type", "the types, innermost first"),
    "param": _words("param", "the parameters complained about, innermost first"),
}

_PROSE = {
    "text": Field(
        Type.STRING,
        attrgetter("text_raw"),
        attrgetter("text"),
        lambda reading, marker: reading.has_text(marker),
        "codes, types, params and messages, a line each",
        lambda reading: reading.own(reading.text),
    ),
    "message": Field(
        Type.STRINGS,
        attrgetter("message"),
        attrgetter("message_folded"),
        contains=lambda reading, marker: reading.has_message(marker),
        doc="the messages, innermost first, without those that only wrap another",
        own=lambda reading: reading.own(*reading.message_folded),
    ),
    "outer": Field(
        Type.STRINGS,
        attrgetter("outer"),
        contains=lambda reading, marker: reading.has_outer(marker),
        doc="what the gateways in front of the server that failed said, outermost first",
        own=lambda reading: reading.own(*map(fold, reading.outer)),
    ),
    "body": Field(
        Type.STRING,
        lambda reading: reading.body or None,
        attrgetter("body_folded"),
        lambda reading, marker: reading.has_body(marker),
        "the decoded body",
        lambda reading: reading.own(reading.body_folded),
    ),
    "html": _same(Type.BOOL, "html", "whether the body is a page"),
    "title": _same(Type.STRING, "title", "the title of the page"),
}

# Without prose, `text` is what programs are meant to read.
_TERSE = {
    "text": Field(Type.STRING, attrgetter("terse_raw"), attrgetter("terse"), doc="codes and types, a line each"),
}

_KEYED = {
    "header": Keyed(Type.STRING, _header, "the first value of a response header"),
    "json": Keyed(Type.ANY, _json, "the value at a path of the body's JSON, or of the JSON found inside it"),
    "request": Keyed(Type.ANY, _request, "the value at a path of the client's request"),
}

FULL = Environment({**_PLAIN, **_PROSE}, _KEYED)
TERSE = Environment({**_PLAIN, **_TERSE}, _KEYED)
