"""Where a text repeats what the client sent. Prompts must not be kept because an upstream quoted them.

Both sides are compared without their escapes, with whitespace runs as one space and without case, so that a prompt is
recognised inside JSON, inside JSON inside JSON, and cut or wrapped. Work is linear in both lengths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LEAST = 24  # characters in a row that make an echo
BLOCK = 12  # of the request are looked up at a time: every run of LEAST holds a whole block
SHORT = 1500  # characters of a text for which the request need not be taken apart
CROWD = 32  # places of one block that are followed; a block found more often is an echo by itself

_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})|\\+([nrtbf])|\\+")
_STEP = re.compile(r"([^\\\s]+)|\\+u([0-9a-fA-F]{4})|\\+[nrtbf]|(\\+)|\s+")


def echoes(text: str, request: bytes) -> list[tuple[int, int]]:
    """The spans of a text that also stand in the request, each of at least `LEAST` characters."""
    if len(text) < LEAST or len(request) < LEAST:
        return []
    sent = _folded(request.decode("utf-8", "replace"))
    said, starts, ends = _mapped(text)
    # one side is looked at block by block, the other at every place: every run of LEAST holds a whole block of either
    short = len(said) <= SHORT
    step, places = (BLOCK, _searched(sent)) if short else (1, _listed(sent))
    found: list[tuple[int, int]] = []
    at = 0
    while at <= len(said) - BLOCK:
        hits = places(said[at : at + BLOCK])
        start, end = _longest(said, sent, at, hits) if hits else (at, at)
        if end - start >= LEAST:
            found.append((starts[start], ends[end - 1]))
            at = -(-end // step) * step
        else:
            at += step
    return found


def _listed(sent: str) -> Callable[[str], Sequence[int]]:
    """Where the request's own blocks stand in it."""
    blocks: dict[str, list[int]] = {}
    for at in range(0, len(sent) - BLOCK + 1, BLOCK):
        blocks.setdefault(sent[at : at + BLOCK], []).append(at)
    return lambda block: blocks.get(block, ())


def _searched(sent: str) -> Callable[[str], Sequence[int]]:
    """Where any block stands in the request; worth it while few are asked for."""

    def places(block: str) -> Sequence[int]:
        found: list[int] = []
        at = sent.find(block)
        while at >= 0 and len(found) <= CROWD:
            found.append(at)
            at = sent.find(block, at + 1)
        return found

    return places


def _longest(said: str, sent: str, at: int, hits: Sequence[int]) -> tuple[int, int]:
    """The longest common run around a place where a block of the request was found."""
    best = at, at + BLOCK
    if len(hits) > CROWD:
        return max(0, at - LEAST), min(len(said), at + LEAST)
    for hit in hits:
        left = 0
        # looking back further than a block is not needed: an earlier block would have been found first
        while left < BLOCK and left < at and left < hit and said[at - left - 1] == sent[hit - left - 1]:
            left += 1
        start, right, limit = at + BLOCK, 0, min(len(said) - at, len(sent) - hit) - BLOCK
        while right < limit and said[start + right] == sent[hit + BLOCK + right]:
            right += 1
        if left + BLOCK + right > best[1] - best[0]:
            best = at - left, start + right
    return best


def _folded(text: str) -> str:
    """What the client sent, as it is compared. Characters above U+FFFF become what JSON escapes them to."""

    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return " " if found[2] else ""

    text = _ESCAPED.sub(plain, text) if "\\" in text else text
    return " ".join(text.split()).lower() if text.isascii() else "".join(map(_units, " ".join(text.split())))


def _mapped(text: str) -> tuple[str, list[int], list[int]]:
    """A text as it is compared, and where each of its characters begins and ends in the original."""
    said: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    space = False

    def add(piece: str, begin: int, end: int) -> None:
        said.append(piece)
        starts.extend([begin] * len(piece))
        ends.extend([end] * len(piece))

    for found in _STEP.finditer(text):
        begin, end = found.span()
        word = found[1]
        if word is not None and word.isascii():
            said.append(word.lower())
            starts.extend(range(begin, end))
            ends.extend(range(begin + 1, end + 1))
        elif word is not None:
            for at, one in enumerate(word, begin):
                add(_units(one), at, at + 1)
        elif found[2] is not None and not (one := chr(int(found[2], 16))).isspace():
            add(_units(one), begin, end)
        elif found[3] is not None:
            continue
        elif space:
            ends[-1] = end
            continue
        else:
            add(" ", begin, end)
            space = True
            continue
        space = False
    return "".join(said), starts, ends


def _units(one: str) -> str:
    """A character in lower case, as the UTF-16 units JSON would escape it to."""
    point = ord(one)
    if point < 0x10000:
        return one.lower()
    point -= 0x10000
    return chr(0xD800 + (point >> 10)) + chr(0xDC00 + (point & 0x3FF))
