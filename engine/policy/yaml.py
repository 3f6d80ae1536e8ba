"""YAML text to a `Document`, or every problem that can be seen in it.

A strict, small YAML: one document of mappings, lists and scalars. Plain scalars are what the core schema of YAML 1.2
says, as editors read them: `true` and `false` are the only booleans (`yes`, `no`, `on`, `off` are text), `08:00` and
`2026-06-01` are text, `010` is ten. Beyond that, `.inf` and `.nan` are text, and tags and `<<` are refused. Anchors
and aliases work within bounds: an anchored value holds no alias, so that nothing grows exponentially.

Codes: FW001 not UTF-8, FW002 not YAML or YAML that a rule file may not use, FW003 a key twice, FW004 too large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from faultwise.engine.problem import Problem

from .document import Document, Place, line_starts, position
from .syntax import syntax_problem

FILE_LIMIT = 1024 * 1024  # bytes
NODE_LIMIT = 200_000  # keys, values, lists and mappings of a file; what an alias stands for counts each time
DEPTH_LIMIT = 60  # mappings and lists in one another
ALIAS_LIMIT = 50
PROBLEM_LIMIT = 100  # of one file
_NUMBER_LIMIT = 300  # characters of a number

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROPERTIES = re.compile(r"(?:[&!]\S*(?:\s|#[^\n\r]*)*)+")  # an anchor, a tag, and what follows up to the value
_NOT_TEXT_FIRST = frozenset("~nNtTfF0123456789+-.")  # how a plain scalar that is not text begins
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BASES = {"0o": 8, "0x": 16}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def read(source: str | bytes, file: str) -> tuple[Document | None, tuple[Problem, ...]]:
    """The document a file holds, and everything wrong with it. `file` is the name used in problems.

    There is a document whenever the text could be parsed, so that later checks report in the same run; it may be
    acted on only when there are no problems.
    """
    size = len(source if isinstance(source, bytes) else source.encode("utf-8", "replace"))
    if size > FILE_LIMIT:
        return None, (Problem(file, 0, 0, "FW004", "the file is larger than 1 MiB", "split it into several files"),)
    try:
        text = source.decode("utf-8") if isinstance(source, bytes) else source
    except UnicodeDecodeError as error:
        return None, (_not_utf8(error, file),)
    reader = _Reader(text.removeprefix("\ufeff"), file)
    try:
        reader.read()
    except _Stop:
        return None, tuple(sorted(reader.problems))
    except yaml.MarkedYAMLError as error:
        return None, (*sorted(reader.problems), syntax_problem(error, reader.text, reader.starts, file))
    return Document(file, reader.data, reader.text, reader.place, reader.starts), tuple(sorted(reader.problems))


class _Stop(Exception):
    """The rest of the file is not read; the problem has been noted."""


@dataclass(slots=True)
class _Open:
    """A mapping or a list whose end has not been read."""

    data: Any
    children: Any  # of its place
    start: int
    anchor: str | None
    nodes: int  # read before it
    key: Any = None  # of a mapping: the key whose value comes next
    key_start: int = -1  # -1: a key comes next


_SKIPPED = object()  # stands for a key that cannot be used


@dataclass(slots=True)
class _Reader:
    """Builds data and places from the parser's events, without recursion."""

    text: str
    file: str
    starts: tuple[int, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    data: Any = None
    place: Place = 0
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Any, Place, int]] = field(default_factory=dict)  # data, place, number of nodes
    nodes: int = 0
    aliases: int = 0
    documents: int = 0

    def __post_init__(self) -> None:
        self.starts = line_starts(self.text)

    def read(self) -> None:
        if found := _UNPRINTABLE.search(self.text):
            character = f"U+{ord(found[0]):04X}"
            self.stop(found.start(), "FW002", f"the character {character} is not allowed", "remove it, or escape it")
        for event in _events(self.text, _LOADER):
            kind = type(event)
            if kind is ScalarEvent:
                self.scalar(event)
            elif kind is MappingStartEvent:
                self.open(event, {}, {})
            elif kind is SequenceStartEvent:
                self.open(event, [], [])
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self.close()
            elif kind is AliasEvent:
                self.alias(event)
            elif kind is DocumentStartEvent:
                self.document(event)
        if self.documents == 0 or self.data is None:
            self.problems.append(Problem(self.file, 0, 0, "FW002", "the file is empty", "begin with `faultwise: 1`"))
            raise _Stop

    def document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            self.stop(event.start_mark.index, "FW002", "a second document", "put it into a file of its own")

    def scalar(self, event: Any) -> None:
        start = event.start_mark.index
        value = event.value
        if event.tag is not None or event.anchor is not None:
            start = self.properties(event, start)
        if not event.style and (value[:1] in _NOT_TEXT_FIRST or not value):
            value = self.plain(value, start)
        if event.anchor is not None:
            self.anchors[event.anchor] = value, start, 1
        self.add(value, start, 1)

    def open(self, event: Any, data: Any, children: Any) -> None:
        start = event.start_mark.index
        if event.tag is not None or event.anchor is not None:
            start = self.properties(event, start)
        if len(self.stack) >= DEPTH_LIMIT:
            self.stop(start, "FW004", f"more than {DEPTH_LIMIT} levels of nesting")
        self.stack.append(_Open(data, children, start, event.anchor, self.nodes))

    def close(self) -> None:
        closed = self.stack.pop()
        place = closed.start, closed.children
        if closed.anchor is not None:
            self.anchors[closed.anchor] = closed.data, place, self.nodes - closed.nodes + 1
        self.add(closed.data, place, 1)

    def alias(self, event: Any) -> None:
        start = event.start_mark.index
        self.aliases += 1
        if self.aliases > ALIAS_LIMIT:
            self.stop(start, "FW004", f"more than {ALIAS_LIMIT} aliases", "name the list under `markers:` instead")
        name = event.anchor
        found = self.anchors.get(name)
        if any(opened.anchor is not None for opened in self.stack):
            self.note(start, "FW004", f"the alias `*{name}` inside an anchored value", "write the value out")
            self.add(None, start, 1)
        elif found is None:
            self.note(
                start, "FW002", f"no anchor `&{name}` before this alias", "text that starts with `*` needs quotes"
            )
            self.add(None, start, 1)
        else:
            data, place, nodes = found
            self.add(data, place if isinstance(place, int) else _moved(place, start), nodes)

    def add(self, value: Any, place: Place, nodes: int) -> None:
        """Puts a finished value where it belongs: as a key, under the key before it, into the list, or at the root."""
        self.nodes += nodes
        if self.nodes > NODE_LIMIT:
            self.stop(_start(place), "FW004", f"more than {NODE_LIMIT:,} values", "split the file")
        if not self.stack:
            self.data, self.place = value, place
            return
        top = self.stack[-1]
        if type(top.data) is list:
            top.data.append(value)
            top.children.append(place)
        elif top.key_start < 0:
            top.key, top.key_start = self.key(value, place, top), _start(place)
        else:
            if top.key is not _SKIPPED:
                top.data[top.key] = value
                top.children[str(top.key)] = top.key_start, place
            top.key_start = -1

    def key(self, value: Any, place: Place, mapping: _Open) -> Any:
        """The key, if it may be one."""
        start = _start(place)
        kind = type(value)
        if kind is not str and kind is not int:
            self.note(start, "FW002", "a key must be text or a whole number", "put it in quotes")
            return _SKIPPED
        if value == "<<" and self.text.startswith("<<", start):
            self.note(start, "FW002", "merge keys are not supported", "write the keys out")
            return _SKIPPED
        first = mapping.children.get(str(value))
        if first is not None:
            line, column = position(self.starts, first[0])
            self.note(start, "FW003", f"the key `{value}` again", f"it is first at {line}:{column}; keep one of them")
            return _SKIPPED
        return value

    def properties(self, event: Any, start: int) -> int:
        """Notes a tag, and tells where the value behind tag and anchor begins."""
        if event.tag is not None:
            self.note(start, "FW002", "tags are not supported", "put the value in quotes to make it text")
        found = _PROPERTIES.match(self.text, start)
        return found.end() if found else start

    def plain(self, value: str, start: int) -> Any:
        """What a plain scalar stands for."""
        if value in _CONSTANTS:
            return _CONSTANTS[value]
        if len(value) > _NUMBER_LIMIT:
            return value
        if _INTEGER.fullmatch(value):
            return int(value, _BASES.get(value[:2], 10))
        if not _FLOAT.fullmatch(value):
            return value
        number = float(value)
        if not isfinite(number):
            self.note(start, "FW004", f"the number `{value}` is too large", "put it in quotes if it is text")
        return number

    def note(self, offset: int, code: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.file, *position(self.starts, offset), code, message, hint))
        if len(self.problems) >= PROBLEM_LIMIT:
            raise _Stop

    def stop(self, offset: int, code: str, message: str, hint: str = "") -> NoReturn:
        self.note(offset, code, message, hint)
        raise _Stop


def _start(place: Place) -> int:
    return place if isinstance(place, int) else place[0]


def _moved(place: Any, start: int) -> Place:
    """The same list or mapping, shown where an alias stands for it."""
    return start, place[1]


def _events(text: str, loader: Any) -> Iterator[Event]:
    """The parser's events up to the end of the stream."""
    parser = loader(text)
    try:
        while type(event := parser.get_event()) is not StreamEndEvent:
            yield event
    finally:
        parser.dispose()


def _not_utf8(error: UnicodeDecodeError, file: str) -> Problem:
    before = error.object[: error.start].decode("utf-8").removeprefix("\ufeff")
    where = position(line_starts(before), len(before))
    byte = error.object[error.start]
    return Problem(file, *where, "FW001", f"the byte 0x{byte:02x} is not UTF-8", "save the file as UTF-8")
