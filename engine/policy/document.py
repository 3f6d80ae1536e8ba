"""A file as data, and where each part of it was written.

Lines and columns count characters from 1; a byte order mark counts for nothing. Lines end at LF, CRLF or CR, as
editors count them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, TypeAlias
from unicodedata import east_asian_width

Path: TypeAlias = "tuple[str | int, ...]"
# Where a value begins: a scalar as an offset, a mapping as (offset, {key as text: (offset of the key, value)}),
# a list as (offset, [value]). Plain data, so that a document can be sent to another process.
Place: TypeAlias = "int | tuple[int, dict[str, tuple[int, Place]]] | tuple[int, list[Place]]"

_LINE_END = re.compile(r"\r\n|\n|\r")
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # what YAML 1.1 calls a line break inside a scalar
_FOLD = re.compile("[ \t]*(?:(?:\r\n|[\n\r\x85\u2028\u2029])[ \t]*)+")
_ESCAPED_FOLD = re.compile("\\\\(?:(?:\r\n|[\n\r\x85\u2028\u2029])[ \t]*)+")
_ESCAPE_WIDTHS = {"x": 4, "u": 6, "U": 10}
_STYLES = {'"': "double", "'": "single", "|": "literal", ">": "folded"}
_EXCERPT = 100  # characters of a line shown


@dataclass(frozen=True, slots=True)
class Scalar:
    """How a scalar was written (`plain`, `single`, `double`, `literal`, `folded`) and where it begins."""

    style: str
    start: int  # offset into the text
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Document:
    """What a YAML file says (`data`: dict, list, str, int, float, bool, None) and where it says it.

    `data` may hold one object in several places, where the file uses an alias: read it, do not change it.
    """

    file: str
    data: Any
    text: str
    place: Place
    line_starts: tuple[int, ...]

    def at(self, path: Path, key: bool = False) -> tuple[int, int]:
        """Line and column of the value at `path`, or of its key; of the nearest ancestor where there is no such path.

        A number and its text name the same key.
        """
        place, key_start, _ = self._find(path)
        return self.position(key_start if key and key_start is not None else _start(place))

    def scalar(self, path: Path) -> Scalar | None:
        """How the scalar at `path` was written; None where there is no scalar."""
        place, _, found = self._find(path)
        if not found or not isinstance(place, int):
            return None
        return Scalar(_STYLES.get(self.text[place : place + 1], "plain"), place, *self.position(place))

    def locate(self, path: Path, offset: int) -> tuple[int, int]:
        """Line and column at which the character `offset` of the text at `path` was written.

        Exact in plain, quoted and `|` scalars, across line folds and escapes; the scalar's start in `>` scalars, and
        the value's where it is no scalar.
        """
        scalar = self.scalar(path)
        if scalar is None:
            return self.at(path)
        return self.position(_source_offset(self.text, scalar, self._value(path), offset))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset into the text."""
        return position(self.line_starts, offset)

    def _find(self, path: Path) -> tuple[Place, int | None, bool]:
        """The place at a path, the offset of its key, and whether all of the path was there."""
        place: Place = self.place
        key_start = None
        for part in path:
            children = None if isinstance(place, int) else place[1]
            if isinstance(children, dict) and str(part) in children:
                key_start, place = children[str(part)]
            elif isinstance(children, list) and isinstance(part, int) and 0 <= part < len(children):
                key_start, place = None, children[part]
            else:
                return place, None, False
        return place, key_start, True

    def _value(self, path: Path) -> str:
        value = self.data
        for part in path:
            if isinstance(value, dict) and part not in value:
                value = next(item for key, item in value.items() if str(key) == str(part))
            else:
                value = value[part]
        return str(value)


def line_starts(text: str) -> tuple[int, ...]:
    """The offset at which each line begins."""
    return (0, *(match.end() for match in _LINE_END.finditer(text)))


def position(starts: tuple[int, ...], offset: int) -> tuple[int, int]:
    """Line and column of an offset, given the `line_starts` of its text."""
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def excerpt(text: str, starts: tuple[int, ...], offset: int) -> str:
    """The line that holds an offset, and a caret below the character; a long line is cut around it."""
    line, column = position(starts, offset)
    end = starts[line] if line < len(starts) else len(text)
    whole = text[starts[line - 1] : end].rstrip("\r\n").replace("\t", " ")
    begin = max(0, column - 1 - _EXCERPT // 2) if len(whole) > _EXCERPT else 0
    padding = "".join(map(_blank, whole[begin : column - 1]))
    return f"{whole[begin : begin + _EXCERPT]}\n{padding}^"


def _blank(character: str) -> str:
    # A wide character takes two columns of a terminal, and so does the ideographic space.
    return "\u3000" if east_asian_width(character) in "WF" else " "


def _start(place: Place) -> int:
    return place if isinstance(place, int) else place[0]


def _source_offset(text: str, scalar: Scalar, value: str, offset: int) -> int:
    """Where in the file a character of a scalar's value stands."""
    if scalar.style == "folded":
        return scalar.start
    if scalar.style == "literal":
        return _literal_offset(text, scalar.start, value, offset)
    return _flow_offset(text, scalar, min(offset, len(value)))


def _literal_offset(text: str, start: int, value: str, offset: int) -> int:
    """A line of the value is a line of the source without its indentation; the first follows the `|` line."""
    before = _BREAK.split(value[: min(offset, len(value.rstrip("\n")))])
    row, column = len(before) - 1, len(before[-1])
    for _ in range(row + 1):
        start = _next_line(text, start)
    line_end = _BREAK.search(text, start)
    length = (line_end.start() if line_end else len(text)) - start
    indent = max(0, length - len(_BREAK.split(value)[row]))
    return start + indent + column


def _next_line(text: str, start: int) -> int:
    found = _BREAK.search(text, start)
    return found.end() if found else len(text)


def _flow_offset(text: str, scalar: Scalar, offset: int) -> int:
    """Walks the source and counts what each piece of it comes to in the value."""
    at = scalar.start + (scalar.style != "plain")
    while True:
        end, characters = _piece(text, at, scalar.style)
        if characters > offset:
            return at
        at, offset = end, offset - characters


def _piece(text: str, at: int, style: str) -> tuple[int, int]:
    """Where the next piece of a scalar ends, and how many characters of the value it is."""
    fold = _FOLD.match(text, at)
    if fold is not None:
        return fold.end(), _folded(fold[0])
    escaped = _ESCAPED_FOLD.match(text, at) if style == "double" else None
    if escaped is not None:
        return escaped.end(), len(_BREAK.findall(escaped[0])) - 1
    if style == "single" and text.startswith("''", at):
        return at + 2, 1
    if style == "double" and text.startswith("\\", at):
        return at + _ESCAPE_WIDTHS.get(text[at + 1], 2), 1
    return at + 1, 1


def _folded(source: str) -> int:
    """How many characters a run of line breaks becomes: one is a space, of several the first is dropped."""
    breaks = _BREAK.findall(source)
    return len(breaks) if breaks[0] in "\u2028\u2029" else max(1, len(breaks) - 1)
