"""The client's request, read once: which model, stream or not, and the body with another model's name in it.

The body is never re-serialised: the new name is spliced into the bytes that came, and everything else stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .endpoint import Endpoint, action
from .form import boundary, fields
from .members import members

Pairs = tuple[tuple[bytes, bytes], ...]
MODEL_LIMIT = 500  # characters of a model's name
LARGE = 1024 * 1024  # bytes of a body of which only the outermost members are read
_HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: JSON can say it, nothing can store or send it
_AWAY = frozenset(("", ".", ".."))  # segments that lead elsewhere
_ASTRAY = re.compile(r"[%?#\\\s]|^\.{0,2}$")  # what a last segment must not hold, or be


class Refused(Exception):
    """The request cannot be served as it is. `status` and the message are for the client."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str = "invalid_request",
        reason: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.status = status
        self.message = message
        self.code = code
        self.reason = code if reason is None else reason
        self.retry_after = retry_after  # seconds
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a client. `spans` are the places of the model's name in `body`."""

    id: str
    endpoint: Endpoint
    path: str
    query: bytes
    headers: Pairs
    body: bytes
    model: str
    stream: bool
    spans: tuple[tuple[int, int], ...]
    quoted: bool = True  # the name stands in JSON

    def header(self, name: bytes) -> str:
        """The first value of a header, empty where it was not sent."""
        return next((value.decode("latin-1") for key, value in self.headers if key == name), "")

    def body_for(self, model: str) -> bytes:
        """The body as the client sent it, with `model` in place of the name it asked for."""
        if not self.spans or model == self.model:
            return self.body
        name = json.dumps(model).encode() if self.quoted else model.encode()
        parts: list[bytes] = []
        at = 0
        for start, end in self.spans:
            parts += (self.body[at:start], name)
            at = end
        return b"".join((*parts, self.body[at:]))


def read(id: str, endpoint: Endpoint, path: str, query: bytes, headers: Pairs, body: bytes) -> Call:
    """The call a request makes. Raises `Refused` where it names no model or cannot be read."""
    if endpoint.wire == "gemini":
        return _from_path(id, endpoint, path, query, headers, body)
    content_type = next((value.decode("latin-1") for key, value in headers if key == b"content-type"), "")
    encoding = next((value for key, value in headers if key == b"content-encoding"), b"identity")
    if encoding.lower() != b"identity":
        raise Refused(415, f"a request body in content-encoding `{encoding.decode('latin-1')}` cannot be read")
    mark = boundary(content_type) if content_type.startswith("multipart/") else None
    found, spans, stream = _in_form(body, mark) if mark else _in_json(body)
    if not isinstance(found, str) or not 0 < len(found) <= MODEL_LIMIT:
        raise Refused(400, "`model` is missing: name a combo, `provider/model` or `connection/model`", "model_missing")
    if not found.isascii() and _HALF.search(found):
        raise Refused(400, "`model` holds half a surrogate pair, which is not text", "model_unreadable")
    if "{action}" in endpoint.path and _ASTRAY.search(path.rpartition("/")[2]):
        raise Refused(404, f"there is nothing at this path below {endpoint.path.rpartition('/')[0]}", "not_found")
    return Call(id, endpoint, path, query, headers, body, found, stream, tuple(spans), quoted=mark is None)


def _in_json(body: bytes) -> tuple[Any, list[tuple[int, int]], bool]:
    model, stream = None, False
    spans = []
    try:
        text = body.decode("utf-8")
        mark = 1 if text.startswith("\ufeff") else 0
        for key, value, start, end in members(text[mark:] if mark else text, shallow=len(text) > LARGE):
            if key == "model":
                model = value
                spans.append((start + mark, end + mark))
            elif key == "stream":
                stream = value is True
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not text.isascii():
        spans = list(_in_bytes(text, spans))
    return model, spans, stream


def _in_bytes(text: str, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans of characters as spans of bytes, in one pass."""
    at = offset = 0
    for start, end in spans:
        begins = offset + len(text[at:start].encode())
        at, offset = end, begins + len(text[start:end].encode())
        yield begins, offset


def _in_form(body: bytes, mark: bytes) -> tuple[str | None, list[tuple[int, int]], bool]:
    model, stream = None, False
    spans = []
    for name, start, end in fields(body, mark):
        if name == "model":
            model = body[start:end].decode("utf-8", "replace")
            spans.append((start, end))
        elif name == "stream":
            stream = body[start:end].strip().lower() == b"true"
    return model, spans, stream


def _from_path(id: str, endpoint: Endpoint, path: str, query: bytes, headers: Pairs, body: bytes) -> Call:
    model, _, asked = path.removeprefix("/v1beta/models/").rpartition(":")
    segments = model.split("/")
    if not 0 < len(model) <= MODEL_LIMIT or not asked.isascii() or not asked.isalnum() or _AWAY.intersection(segments):
        raise Refused(404, "expected /v1beta/models/{model}:generateContent or :streamGenerateContent", "not_found")
    return Call(id, endpoint, path, query, headers, body, model, action(path).startswith("stream"), ())
