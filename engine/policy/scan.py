"""Which of many markers stand in a text, found in one pass over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ahocorasick_rs

Scan = Callable[[str], Iterable[str]]

SCAN_ABOVE = 8  # markers; below, as many `in` tests are faster than a scan
DFA_UP_TO = 2_048  # markers; above, building the faster automaton takes too long


def scan(markers: Iterable[str]) -> Scan:
    """The function from a text to those of the markers that stand in it, overlapping ones too."""
    words = tuple(dict.fromkeys(markers))
    if len(words) <= SCAN_ABOVE:
        return lambda text: [word for word in words if word in text]
    kinds = ahocorasick_rs.Implementation
    automaton = ahocorasick_rs.BytesAhoCorasick(
        [word.encode() for word in words], implementation=kinds.DFA if len(words) <= DFA_UP_TO else kinds.ContiguousNFA
    )

    def found(text: str) -> Iterable[str]:
        hits = automaton.find_matches_as_indexes(text.encode("utf-8", "replace"), overlapping=True)
        return {words[index] for index, _, _ in hits} if hits else ()

    return found
