"""What makes a document that came with a 200 a failure: a value at a place. The places and values are data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

KINDS = ("value", "code", "status", "text", "words")
UNLESS = ("answer", "item", "fine", "content")  # what keeps a shape from being a failure
MOST_ITEMS = 64  # of a list on the way to a place

_STATUS = re.compile(r"\s*([45]\d\d)(?!\w)")


class Ending(NamedTuple):
    """The word with which an answer says that it ended badly, and the status that stands for it."""

    word: str
    status: int | None


@dataclass(frozen=True, slots=True)
class Shape:
    """One place and what must stand there. A list on the way stands for each of its items."""

    path: tuple[str, ...]
    kind: str
    words: frozenset[str] = frozenset()  # for `words`: these; else those that are fine
    unless_answer: bool = False
    unless_item: bool = False
    unless_fine: bool = False
    after_content: bool = True  # whether it counts in an event that comes after content
    beside_text: bool = False
    empty: bool = False
    status: int | None = None

    def holds(self, document: dict[str, Any]) -> bool:
        """Whether the document has it."""
        value = document.get(self.path[0])
        if value is None:
            return False
        if len(self.path) == 1:
            return self._is(value)
        return any(map(self._is, at_path(value, self.path[1:])))

    def word(self, document: dict[str, Any]) -> str | None:
        """The first of the words that stands there."""
        for value in at_path(document, self.path):
            if isinstance(value, str) and value.lower() in self.words:
                return value
        return None

    def _is(self, value: Any) -> bool:
        if self.kind == "words":
            return isinstance(value, (str, int, bool)) and spelt(value) in self.words
        if self.kind == "value":
            return substantive(value, self.words)
        if self.kind == "status":
            return as_status(value) is not None
        if isinstance(value, str):
            return bool(value.strip()) and value.strip().lower() not in self.words
        return (
            self.kind == "code"
            and isinstance(value, (int, float))
            and not isinstance(value, bool)
            and spelt(value) not in self.words
        )


def at_path(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    """The values at a path."""
    if isinstance(value, list):
        for item in value[:MOST_ITEMS]:
            if not isinstance(item, list):
                yield from at_path(item, path)
    elif not path:
        yield value
    elif isinstance(value, dict) and (held := value.get(path[0])) is not None:
        yield from at_path(held, path[1:])


def substantive(value: Any, fine: frozenset[str] = frozenset(), level: int = 0) -> bool:
    """Whether a value says something: not null, false, 0, blank text, nor an object or a list of only such or fine ones."""
    if value is None or value is False:
        return False
    if isinstance(value, str):
        text = value.strip()
        return bool(text) and text.lower() not in fine
    if isinstance(value, (dict, list)):
        if level > 4:
            return bool(value)
        return any(substantive(one, fine, level + 1) for one in (value.values() if isinstance(value, dict) else value))
    return value is True or (bool(value) and spelt(value) not in fine)


def as_status(value: Any) -> int | None:
    """The HTTP error status a value is: 429, "429", "403 FORBIDDEN"."""
    if isinstance(value, int):
        return value if 400 <= value <= 599 else None
    if isinstance(value, str) and (found := _STATUS.match(value)):
        return int(found[1])
    return None


def spelt(value: Any) -> str:
    """A scalar as the word lists write it: a whole number without its point."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


def compile_words(values: Iterable[Any]) -> frozenset[str]:
    """A word list, for comparison by `spelt`."""
    return frozenset(map(spelt, values))


def compile_shapes(rows: Iterable[Mapping[str, Any]], fine: frozenset[str]) -> dict[str, tuple[Shape, ...]]:
    """The shapes of a policy, by the key their place begins with. Raises ValueError for one that makes no sense."""
    shapes = []
    for row in rows:
        what = row["is"]
        if isinstance(what, str) and what not in KINDS[:-1]:
            raise ValueError(f"shape `{row['id']}`: `is` must be a list of values or one of {', '.join(KINDS[:-1])}")
        words, kind = (fine, what) if isinstance(what, str) else (compile_words(what), "words")
        written, beside = row.get("unless", ()), row.get("beside")
        unless = {written} if isinstance(written, str) else set(written)
        if not unless <= set(UNLESS) or beside not in (None, "text"):
            raise ValueError(f"shape `{row['id']}`: `unless` is one of {', '.join(UNLESS)}; `beside` is `text`")
        for place in row["at"]:
            shapes.append(
                Shape(
                    tuple(place.split(".")),
                    kind,
                    words,
                    unless_answer="answer" in unless,
                    unless_item="item" in unless,
                    unless_fine="fine" in unless,
                    after_content="content" not in unless,
                    beside_text=beside is not None,
                )
            )
    return _by_key(shapes)


def compile_finish(rows: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Shape, ...]]:
    """The ways of ending badly, by the key their place begins with."""
    return _by_key(
        Shape(
            tuple(place.split(".")),
            "words",
            compile_words(row["is"]),
            empty=bool(row.get("empty", False)),
            status=row.get("status"),
        )
        for row in rows
        for place in row["at"]
    )


def _by_key(shapes: Iterable[Shape]) -> dict[str, tuple[Shape, ...]]:
    table: dict[str, tuple[Shape, ...]] = {}
    for shape in shapes:
        table[shape.path[0]] = (*table.get(shape.path[0], ()), shape)
    return table


# The first bytes of a JSON value of each kind: never too few for what `Shape.holds` accepts.
_STARTS = {
    "value": r'(?:"[^"]|[{\[]\s*[^\s}\]]|[-0-9tNI])',
    "code": r'(?:"[^"]|[-1-9NI]|0[.eE])',
    "status": r'"?\s*[45]\d\d',
    "text": r'"[^"]',
}
_ALWAYS = (
    r"\A\s*(?:<|data:|event:|:|\x1f\x8b|\xff\xfe|\xfe\xff)|\A(?:.?\x00|.?.?\x00)"  # a page, a stream, packed, UTF-16
    r"|\\u00(?:3[0-9]|[4-7])"  # an escaped letter: a key may be spelt so
)


def compile_alarm(shapes: Iterable[Shape], literals: Iterable[str]) -> str:
    """The pattern, over bytes, of what a body has that could be a failure by these shapes or hold these literals."""
    keys: dict[str, set[str]] = {}
    for shape in shapes:
        start = _STARTS.get(shape.kind) or _listed(shape.words)
        if len(shape.path) > 1:
            start = rf"(?:{start}|\[\s*[^\s\]])"  # a list stands for its items
        keys.setdefault(start, set()).add(re.escape(shape.path[-1]))
    parts = [rf'"(?:{"|".join(sorted(names))})"\s*:\s*{start}' for start, names in sorted(keys.items())]
    return "|".join([_ALWAYS, *parts, *sorted(map(re.escape, literals))])


def _listed(words: frozenset[str]) -> str:
    spelling = "|".join(sorted(map(re.escape, words)))
    return rf'(?:"\s*(?i:{spelling})\s*"|(?i:{spelling}))'
