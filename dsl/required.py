"""What a regex cannot match without: literals of which every folded text it matches holds one.

A reading of RE2's syntax that may know less than RE2, never more: what it is not sure of, it takes to match anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from .fold import fold

SHORTEST = 3  # bytes of a literal; shorter ones stand everywhere
MOST = 64  # literals of a set
MOST_SPELLINGS = 64  # of a part, before those that hold another are dropped
TELLING = 8  # bytes from which a longer literal is no better

REMEMBERED = 4_096  # patterns: a reload walks only what changed

Texts = frozenset[str]


@lru_cache(maxsize=REMEMBERED)
def required(pattern: str) -> frozenset[str] | None:
    """Literals, in small letters, of which one stands wherever the pattern matches; None where there is no such set."""
    walk = _Walk(pattern)
    try:
        whole = walk.alternation()
    except _Unsure:
        return None
    return whole.best if walk.ended else None


class _Unsure(Exception):
    """The pattern has something this walk does not read."""


class _Part(NamedTuple):
    """A part of a pattern: all it can match, where that is a few texts, and what any match holds."""

    exact: Texts | None
    held: Texts | None = None

    @property
    def best(self) -> Texts | None:
        return _better(self.held, self.exact)


_NOTHING = _Part(frozenset({""}))
_ANYTHING = _Part(None)
_PLAIN = re.compile(r"[A-Za-z0-9 _,:;'\"/=<>@#%&!~`-]+(?![*+?{])")  # characters that stand for themselves
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d+)(,\d*)?\})\??")
_OPENING = re.compile(r"\((?:\?P?<\w+>|\?[a-zA-Z-]*:)?")
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_CHOICE = re.compile(r"\[((?:\\[^\w]|[^\]\[\\^-])+)\]")  # a class that lists its characters
_EMPTY_ESCAPES = frozenset("bBAz")
_CLASS_ESCAPES = frozenset("dDwWsSntrfva")


class _Walk:
    """Reads a pattern once, from the left."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    @property
    def ended(self) -> bool:
        return self._at >= len(self._pattern)

    def alternation(self) -> _Part:
        parts = [self._concatenation()]
        while self._took("|"):
            parts.append(self._concatenation())
        if len(parts) == 1:
            return parts[0]
        exact = _union([part.exact for part in parts])
        return _Part(exact if exact is None or len(exact) <= MOST_SPELLINGS else None, _union([p.best for p in parts]))

    def _concatenation(self) -> _Part:
        """Exact parts in a row are read as one; the best of all that must be there is kept."""
        run, held, broken = frozenset({""}), None, False
        while not self.ended and self._pattern[self._at] not in "|)":
            part = self._repeated()
            if part.exact is not None and len(run) * len(part.exact) <= MOST_SPELLINGS:
                run = frozenset(map("".join, product(run, part.exact)))
                continue
            held = _better(_better(held, run), part.held)
            run, broken = part.exact or frozenset({""}), True
        return _Part(None, _better(held, run)) if broken else _Part(run, held)

    def _repeated(self) -> _Part:
        part = self._atom()
        while found := _QUANTIFIER.match(self._pattern, self._at):
            self._at = found.end()
            sign = found[0][0]
            if sign == "?":
                part = _ANYTHING if part.exact is None else _Part(part.exact | {""})
            elif sign == "*" or sign == "{" and int(found[1]) == 0:
                part = _ANYTHING
            elif found[0] != "{1}":
                part = _Part(None, part.best)
        return part

    def _atom(self) -> _Part:
        if plain := _PLAIN.match(self._pattern, self._at):
            self._at = plain.end()
            return _Part(frozenset({plain[0].lower()}))
        character = self._pattern[self._at]
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character == "\\":
            return self._escape()
        self._at += 1
        if character in "^$":
            return _NOTHING
        return _ANYTHING if character == "." else _literal(character)

    def _group(self) -> _Part:
        if flags := _FLAGS.match(self._pattern, self._at):
            self._at = flags.end()
            return _NOTHING
        opening = _OPENING.match(self._pattern, self._at)
        assert opening is not None
        self._at = opening.end()
        inner = self.alternation()
        if not self._took(")"):
            raise _Unsure
        return inner

    def _class(self) -> _Part:
        found = _CLASS.match(self._pattern, self._at)
        if found is None:
            raise _Unsure
        self._at = found.end()
        listed = _CHOICE.fullmatch(found[0])
        if listed is None:
            return _ANYTHING
        return _Part(_union([_literal(character).exact for character in re.sub(r"\\(.)", r"\1", listed[1])]))

    def _escape(self) -> _Part:
        character = self._pattern[self._at + 1 : self._at + 2]
        self._at += 2
        if character in _EMPTY_ESCAPES:
            return _NOTHING
        if character in _CLASS_ESCAPES:
            return _ANYTHING
        if not character or character.isalnum():
            raise _Unsure  # numbers, properties and quotations of RE2
        return _literal(character)

    def _took(self, character: str) -> bool:
        found = self._pattern.startswith(character, self._at)
        self._at += found
        return found


def _literal(character: str) -> _Part:
    """A character as folded text has it; anything where that is none, or more than one."""
    form = character if character == " " else fold(character)
    return _Part(frozenset({form})) if len(form) == 1 else _ANYTHING


def _union(sets: list[Texts | None]) -> Texts | None:
    found = [texts for texts in sets if texts is not None]
    return frozenset[str]().union(*found) if len(found) == len(sets) else None


def _better(one: Texts | None, other: Texts | None) -> Texts | None:
    """The set whose shortest literal is longer, or else the smaller one; None where neither is fit to be looked for."""
    fit = [texts for texts in map(_fit, (one, other)) if texts is not None]
    return max(fit, key=lambda texts: (min(TELLING, *map(_size, texts)), -len(texts)), default=None)


def _fit(texts: Texts | None) -> Texts | None:
    if texts is None or min(map(_size, texts)) < SHORTEST:
        return None
    least = frozenset(text for text in texts if not any(other in text for other in texts if other != text))
    return least if len(least) <= MOST else None


def _size(text: str) -> int:
    return len(text.encode())
