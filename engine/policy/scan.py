"""Which rules the markers in a text point at, found in one pass over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from faultwise.dsl.scan import SCAN_ABOVE, search

__all__ = ["SCAN_ABOVE", "Find", "Scan"]

Find = Callable[[str], set[int]]


class Scan:
    """One search for many markers, overlapping ones too. It can serve many `finder`s."""

    __slots__ = ("_search", "markers")

    def __init__(self, markers: Iterable[str]) -> None:
        self.markers = tuple(dict.fromkeys(markers))
        self._search = search(self.markers) if len(self.markers) > SCAN_ABOVE else None

    def finder(self, ranks: Mapping[str, Iterable[int]]) -> Find:
        """The function from a text to the ranks of what stands in it. All keys of `ranks` are among the markers."""
        search = self._search
        if search is None or len(ranks) <= SCAN_ABOVE:
            return _few(tuple(ranks.items()))
        known = {index: tuple(ranks[marker]) for index, marker in enumerate(self.markers) if marker in ranks}

        def find(text: str) -> set[int]:
            found: set[int] = set()
            for index, _, _ in search(text):
                if index in known:
                    found.update(known[index])
            return found

        return find


def _few(row: tuple[tuple[str, Iterable[int]], ...]) -> Find:
    def find(text: str) -> set[int]:
        found: set[int] = set()
        for marker, ranks in row:
            if marker in text:
                found.update(ranks)
        return found

    return find
