"""A rule file that has been read, and the entries in it: data that still knows where it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from faultwise.engine.problem import Problem

from .digest import content_digest
from .document import Document
from .model import Origin
from .schema import unfit, validate
from .source import SourceFile
from .yaml import read

KINDS = ("policy", "provider", "rules", "clients", "cases")
LISTS = ("restatements", "rules", "cases", "clients")  # whose items stand for themselves
NAMED = {"provider": "provider"}  # what a file of a kind is nothing without


@dataclass(frozen=True, slots=True)
class Parsed:
    """One rule file whose form is right; where it is not, what can be worked with all the same."""

    name: str
    rank: int
    kind: str
    document: Document
    digest: bytes  # of its content

    @property
    def shipped(self) -> bool:
        """Whether it came with the package."""
        return self.rank == 0

    @property
    def data(self) -> Mapping[str, Any]:
        """Its content."""
        data: Mapping[str, Any] = self.document.data
        return data

    def entries(self, key: str) -> Iterator[Entry]:
        """The items of one of its top-level lists, but those whose form is wrong."""
        for number, data in enumerate(self.data.get(key) or ()):
            if data is not None:
                yield Entry(data, self, (key, number))


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule, restatement or case as written."""

    data: Mapping[str, Any]
    parsed: Parsed
    path: tuple[str | int, ...]

    @property
    def origin(self) -> Origin:
        """Where it begins."""
        line, column = self.parsed.document.at(self.path)
        return Origin(self.parsed.name, line, column, self.parsed.shipped)

    def problem(self, key: tuple[str | int, ...], code: str, message: str, hint: str = "", offset: int = 0) -> Problem:
        """A finding about one of its keys, `offset` characters into the value."""
        line, column = self.parsed.document.locate((*self.path, *key), offset)
        return Problem(self.parsed.name, line, column, code, message, hint)


def parse(file: SourceFile) -> tuple[Parsed | None, tuple[Problem, ...]]:
    """Read one file and hold it against the schema of its kind.

    Where there are problems it may not serve, but the rest of it is there to be looked at in the same run.
    """
    document, problems = read(file.data, file.name)
    if document is None or problems:
        return None, problems
    kind = document.data.get("kind") if isinstance(document.data, Mapping) else None
    if kind == "gateway":
        return None, ()  # may lie beside the rules; the server reads it
    if kind not in KINDS:
        line, column = document.at(("kind",))
        message = "`kind` is missing" if kind is None else f"unknown kind `{kind}`"
        return None, (Problem(file.name, line, column, "FW011", message, f"one of {', '.join(KINDS)}"),)
    problems = validate(document, kind, file.name)
    data = _fit(document, kind) if problems else document.data
    if NAMED.get(kind, "kind") not in data:
        return None, problems
    return Parsed(file.name, file.rank, kind, replace(document, data=data), content_digest(data)), problems


def _fit(document: Document, kind: str) -> dict[str, Any]:
    """What of a file can be worked with. An item of a list becomes None, so that the others keep their places."""
    data = dict(document.data)
    for path in unfit(document, kind):
        key, inner = path[0] if path else "", path[1:]
        if key in LISTS and inner and isinstance(data.get(key), list):
            data[key] = [None if number == inner[0] else item for number, item in enumerate(data[key])]
        else:
            data.pop(key, None)
    return data
