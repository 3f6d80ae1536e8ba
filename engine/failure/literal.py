"""JSON as upstreams send it: whole, cut off, inside prose, as the repr of a Python dict. Bounded, never an exception."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

LONGEST_MENDED = 64 * 1024  # characters of JSON that was cut off which are read
LONGEST_LITERAL = 16 * 1024  # characters of a Python dict that are read
DEEPEST = 40  # levels of a Python dict, or of JSON that was cut off
MOST_OBJECTS = 4  # objects read in one text
MOST_TRIES = 12  # braces looked at in one text
MOST_MENDED = 4  # of those, the first, where what was cut off is mended

MISSING: Any = object()  # no value could be read; null is one

_DECODER = json.JSONDecoder(strict=False)  # raw control characters inside strings are forgiven
_SPACES = " \t\n\r"  # of JSON
_ERRORS = (ValueError, RecursionError)


class Embedded(NamedTuple):
    """An object found in a text, and where it stands."""

    value: Any
    start: int
    end: int


def parse(text: str) -> Any:
    """The JSON value a text is, of which the end may be cut off; `MISSING` where it is none."""
    try:
        value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip(_SPACES)) if text[:1] in _SPACES else 0)
        if end == len(text) or not text[end:].strip(_SPACES):
            return value
    except _ERRORS:
        pass
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return MISSING
    return _mended(text[:LONGEST_MENDED], text.index(start)) or MISSING


def parse_lines(text: str) -> list[Any]:
    """The objects of newline-delimited JSON, at most 64; nothing where a line is something else."""
    values = []
    for line in text.splitlines()[:64]:
        if not line.strip():
            continue
        try:
            values.append(_DECODER.decode(line))
        except _ERRORS:
            return []
    return values


def embedded(text: str) -> Iterator[Embedded]:
    """The objects written inside a text, JSON or Python, in order, the outermost of each only."""
    at = found = 0
    for number in range(MOST_TRIES):
        at = text.find("{", at)
        if at < 0 or found >= MOST_OBJECTS:
            return
        item = _object_at(text, at, mend=number < MOST_MENDED)
        if item is None:
            at += 1
            continue
        yield item
        at, found = item.end, found + 1


def texts(value: Any, deepest: int, level: int = 0) -> Iterator[str]:
    """The texts in a parsed value, in order, down to a level."""
    if isinstance(value, str):
        yield value
    elif level < deepest and isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item, deepest, level + 1)


def _object_at(text: str, at: int, mend: bool) -> Embedded | None:
    if text.startswith('{\\"', at):  # escaped once too often
        inner = _object_at(text[at:].replace('\\"', '"').replace("\\\\", "\\"), 0, mend)
        return None if inner is None else Embedded(inner.value, at, len(text))
    try:
        value, end = _DECODER.raw_decode(text, at)
        return Embedded(value, at, end) if value else None
    except _ERRORS:
        pass
    closing = _closing(text, at)
    if closing is None and not mend:
        return None
    value = _mended(text, at) if closing is None else _python(text[at:closing])
    return None if value is MISSING or not value else Embedded(value, at, closing or len(text))


_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[{}\[\]]", re.DOTALL)


def _closing(text: str, at: int) -> int | None:
    """Where the object that opens at `at` closes, strings of either quote passed over."""
    depth = 0
    for token in _TOKEN.finditer(text, at, at + LONGEST_LITERAL):
        if token[0] in ("{", "["):
            depth += 1
            if depth > DEEPEST:
                return None
        elif token[0] in ("}", "]"):
            depth -= 1
            if depth == 0:
                return token.end()
    return None


_PYTHON = re.compile(r"""b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*"|\b(?:True|False|None)\b""", re.DOTALL)
_ESCAPE = re.compile(r"""\\(?:x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(u[0-9a-fA-F]{4}|[\\"/bfnrt])|(.))|(")""", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null"}


def _python(text: str) -> Any:
    """The dict whose repr this is, by way of JSON."""
    try:
        value = _DECODER.decode(_PYTHON.sub(_as_json, text))
    except _ERRORS:
        return MISSING
    return value if isinstance(value, dict) else MISSING


def _as_json(token: re.Match[str]) -> str:
    word = _WORDS.get(token[0])
    return word if word is not None else f'"{_ESCAPE.sub(_escape_as_json, token[0].lstrip("b")[1:-1])}"'


def _escape_as_json(found: re.Match[str]) -> str:
    byte, point, known, other, quote = found.groups()
    if byte:
        return f"\\u00{byte}"
    if point:
        return chr(min(int(point, 16), 0x10FFFF))
    if known:
        return f"\\{known}"
    if quote:
        return '\\"'
    return "'" if other == "'" else f"\\\\{other}"


_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*("?)|[{}\[\]]', re.DOTALL)
_DANGLING = re.compile(r'(?:,|"(?:[^"\\]|\\.)*"\s*:|[{,]\s*"(?:[^"\\]|\\.)*"|[-+.\w]+)\s*$', re.DOTALL)


_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


def _mended(text: str, at: int) -> Any:
    """The JSON that opens at `at` and was cut off, closed where it ends."""
    closers: list[str] = []
    open_string = False
    for token in _JSON_TOKEN.finditer(text, at):
        mark = token[0]
        if mark in ("{", "["):
            closers.append("}" if mark == "{" else "]")
            if len(closers) > DEEPEST:
                return MISSING
        elif mark in ("}", "]"):
            if not closers or closers.pop() != mark or not closers:
                return MISSING  # not cut off: broken
        else:
            open_string = not token[1]
    if not closers:
        return MISSING
    body = text[at:]
    if open_string:
        body = body[:-5] + _HALF_ESCAPE.sub("", body[-5:]) + '"'
    return _closed(body, "".join(reversed(closers)))


def _closed(body: str, closers: str) -> Any:
    """Tried as it is, then without what hangs at its end: a comma, half a number, a key without its value."""
    for _ in range(4):
        try:
            return _DECODER.decode(body + closers)
        except _ERRORS:
            shorter = _trimmed(body)
            if shorter is None:
                return MISSING
            body = shorter
    return MISSING


def _trimmed(body: str) -> str | None:
    tail = body[-512:]
    match = _DANGLING.search(tail)
    if match is None:
        return None
    keep = 1 if match[0][0] == "{" else 0
    return body[: len(body) - len(tail) + match.start() + keep]
