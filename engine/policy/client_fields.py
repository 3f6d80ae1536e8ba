"""The names expressions about clients may use: of a caller, and of a truth that is told to one."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from faultwise.dsl import Environment, Field, Keyed, Type

Get = Callable[[Any], Any]


def _header(read: Get) -> Callable[[str], Get]:
    def bind(key: str) -> Get:
        name = key.strip().lower()
        if not name:
            raise ValueError("a header has a name")
        return lambda subject: read(subject).get(name)

    return bind


def _agent(caller: Any) -> str | None:
    agent: str | None = caller.headers.get("user-agent")
    return agent


def _caller(prefix: str) -> dict[str, Field]:
    return {
        "wire": Field(Type.STRING, attrgetter(f"{prefix}wire"), doc="openai, anthropic or gemini"),
        "endpoint": Field(
            Type.STRING, attrgetter(f"{prefix}endpoint"), doc="what was called: chat, messages, responses …"
        ),
    }


def _truth(kind: Type, name: str, doc: str) -> Field:
    return Field(kind, attrgetter(f"truth.{name}"), doc=doc)


HEADER_DOC = "the first value of a request header"

# Which client is it?
CALLER = Environment(
    {**_caller(""), "text": Field(Type.STRING, _agent, doc="the user agent, for `any`, `all` and `none`")},
    {"header": Keyed(Type.STRING, _header(attrgetter("headers")), HEADER_DOC)},
)

# What is there to tell it?
TELLING = Environment(
    {
        **_caller("caller."),
        "status": _truth(Type.INT, "status", "the status a client is told of which nothing is known"),
        "reason": _truth(Type.STRING, "reason", "what happened"),
        "fault": _truth(Type.STRING, "fault", "whose doing it is, where one target's verdict says so"),
        "temporary": _truth(Type.BOOL, "temporary", "whether it ends by itself, where that is known"),
        "retry_after": _truth(Type.DURATION, "retry_after", "how long to wait, where that is known"),
        "code": _truth(Type.STRING, "code", "the error code"),
        "type": _truth(Type.STRING, "type", "the upstream's error type"),
        "message": _truth(Type.STRING, "message", "the error message"),
        "text": Field(
            Type.STRING,
            lambda telling: telling.text or None,
            attrgetter("folded"),
            doc="code, type and message, for `any`, `all` and `none`",
        ),
    },
    {"header": Keyed(Type.STRING, _header(attrgetter("caller.headers")), HEADER_DOC)},
)
