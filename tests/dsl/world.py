"""What the tests' expressions may mention: a dict as the subject, one field of every type, and a guarded text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from faultwise.dsl import Environment, Field, Keyed, Type, fold, path

Subject = dict[str, Any]


def value_of(name: str) -> Callable[[Subject], Any]:
    return lambda subject: subject.get(name)


def folded_of(name: str) -> Callable[[Subject], Any]:
    def folded(subject: Subject) -> Any:
        value = subject.get(name)
        if isinstance(value, str):
            return fold(value)
        return None if value is None else tuple(map(fold, value))

    return folded


def guarded(subject: Subject, marker: str) -> bool:
    """Whether `text` holds the marker, and not only because the client said it first."""
    return marker in fold(subject.get("text") or "") and marker not in fold(subject.get("echoed") or "")


def in_any_message(subject: Subject, marker: str) -> bool:
    return any(marker in fold(message) for message in subject.get("message") or ())


def header(name: str) -> Callable[[Subject], Any]:
    if not name or not name.replace("-", "").isalnum():
        raise ValueError(f"`{name}` is not a header name")
    return lambda subject: subject.get("header", {}).get(name.lower())


def under(root: str) -> Callable[[str], Callable[[Subject], Any]]:
    def bind(key: str) -> Callable[[Subject], Any]:
        find = path.compile(key)
        return lambda subject: find(subject.get(root))

    return bind


ENVIRONMENT = Environment(
    fields={
        "text": Field(Type.STRING, value_of("text"), folded_of("text"), guarded),
        "message": Field(Type.STRINGS, value_of("message"), folded_of("message"), None),
        "outer": Field(Type.STRINGS, value_of("message"), contains=in_any_message),
        "code": Field(Type.STRINGS, value_of("code")),
        "body": Field(Type.STRING, value_of("body")),
        "model": Field(Type.STRING, value_of("model")),
        "status": Field(Type.INT, value_of("status")),
        "attempt": Field(Type.INT, value_of("attempt")),
        "now": Field(Type.FLOAT, value_of("now")),
        "stated": Field(Type.DURATION, value_of("stated")),
        "is_error": Field(Type.BOOL, value_of("is_error")),
        "reset": Field(Type.ANY, value_of("reset")),
    },
    keyed={
        "header": Keyed(Type.STRING, header),
        "json": Keyed(Type.ANY, under("json")),
        "request": Keyed(Type.ANY, under("request")),
    },
)

LISTS = {"quota": ("insufficient quota", "额度不足"), "codes": ("1302", "1303")}
