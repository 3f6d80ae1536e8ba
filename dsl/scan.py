"""Which of many markers stand in a text, found in one pass over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import ahocorasick_rs

Search = Callable[[str], Iterable[tuple[int, int, int]]]  # the number of a marker, and where it begins and ends

SCAN_ABOVE = 8  # markers; below, as many `in` tests are faster than a scan
DFA_UP_TO = 2_048  # markers; above, building the faster automaton takes too long


def search(markers: tuple[str, ...]) -> Search:
    """The function from a text to where the markers stand in it, overlapping ones too; offsets are those of UTF-8."""
    kinds = ahocorasick_rs.Implementation
    kind = kinds.DFA if len(markers) <= DFA_UP_TO else kinds.ContiguousNFA
    automaton = ahocorasick_rs.BytesAhoCorasick([marker.encode() for marker in markers], implementation=kind)
    find = automaton.find_matches_as_indexes
    return lambda text: find(text.encode("utf-8", "replace"), overlapping=True)


_shared = lru_cache(maxsize=512)(search)  # many rules name the same list


def first_used(markers: tuple[str, ...]) -> Callable[[str], set[str]]:
    """The function from a text to those of the markers that stand in it. Built when it is first called."""
    found: Search | None = None

    def find(text: str) -> set[str]:
        nonlocal found
        if found is None:
            found = _shared(markers)
        return {markers[number] for number, _, _ in found(text)}

    return find
