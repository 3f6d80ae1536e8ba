"""The members of a JSON object and exactly where their values stand in its text, from one parse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# A list or object without another in it, a string, a bracket.
_TOKEN = re.compile(rf'[\[{{](?:[^][{{}}"]++|{_STRING})*+[\]}}]|{_STRING}|[{{}}\[\]]', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)


def members(text: str, shallow: bool = False) -> Iterator[tuple[str, Any, int, int]]:
    """Each member of the outermost object in order: its key, its value, and the span of the value in `text`.

    A key that stands twice is given twice. `shallow`: lists and objects inside are passed over, not built and not
    checked; their value is None. Raises ValueError where `text` is not one JSON object.
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
        key, at = _value(text, at)
        at = _space(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"expected `:` at character {at}")
        start = _space(text, at + 1)
        value, end = _passed(text, start) if shallow and text[start : start + 1] in "{[" else _value(text, start)
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
    except json.JSONDecodeError:
        raise
    except ValueError:  # what remains is the interpreter's own bound
        raise ValueError("a number has too many digits") from None


def _passed(text: str, start: int) -> tuple[None, int]:
    """Past the list or object that begins there, by its strings and brackets alone."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        mark = text[token.start()]
        if mark == '"':
            continue
        depth += (mark in "{[") - (text[token.end() - 1] in "}]")
        if depth <= 0:
            return None, token.end()
    raise ValueError(f"what begins at character {start} does not end")


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _end(text: str, at: int) -> None:
    if _space(text, at) != len(text):
        raise ValueError(f"unexpected text after the object at character {at}")
