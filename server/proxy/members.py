"""The members of a JSON object and exactly where their values stand in its text, from one parse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(strict=False)


def members(text: str) -> Iterator[tuple[str, Any, int, int]]:
    """Each member of the outermost object in order: its key, its value, and the span of the value in `text`.

    A key that stands twice is given twice. Raises ValueError where `text` is not one JSON object.
    """
    at = _space(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("expected a JSON object")
    at = _space(text, at + 1)
    if text[at : at + 1] == "}":
        return _end(text, at + 1)
    while True:
        if text[at : at + 1] != '"':
            raise ValueError(f"expected a key at character {at}")
        key, at = _DECODER.raw_decode(text, at)
        at = _space(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"expected `:` at character {at}")
        start = _space(text, at + 1)
        value, end = _value(text, start)
        yield key, value, start, end
        at = _space(text, end)
        separator = text[at : at + 1]
        if separator == "}":
            return _end(text, at + 1)
        if separator != ",":
            raise ValueError(f"expected `,` or `}}` at character {at}")
        at = _space(text, at + 1)


def _value(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _end(text: str, at: int) -> None:
    if _space(text, at) != len(text):
        raise ValueError(f"unexpected text after the object at character {at}")
