"""How many tokens an answer says it took, where that passes by anyway: in a whole answer, or in events of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from faultwise.engine.failure.stream import Event

PLACES = ("response", "message")  # below which some events have it
NAMES = ("usage", "usageMetadata")
TOTALS = ("total_tokens", "totalTokenCount")
PARTS = (
    *("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"),
    *("prompt_tokens", "completion_tokens"),
)
MARK = b'"usage'


class Usage:
    """What one answer said; of a number it says again, the newest counts."""

    __slots__ = ("_said",)

    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    @property
    def tokens(self) -> int | None:
        """All that was taken; None where nothing was said."""
        for name in TOTALS:
            if name in self._said:
                return self._said[name]
        return sum(self._said.values()) if self._said else None

    def event(self, event: Event) -> None:
        """Look at an event of a stream."""
        if MARK in event.data:
            self._read(event.document())

    def document(self, body: bytes) -> None:
        """Look at a whole answer."""
        if MARK in body:
            try:
                self._read(json.loads(body))
            except (ValueError, RecursionError):
                return  # it was let through as what it is

    def _read(self, document: Any) -> None:
        if not isinstance(document, Mapping):
            return
        for place in (document, *map(document.get, PLACES)):
            if not isinstance(place, Mapping):
                continue
            for told in filter(None, map(place.get, NAMES)):
                if isinstance(told, Mapping):
                    named = {name: told.get(name) for name in (*TOTALS, *PARTS)}
                    self._said |= {name: one for name, one in named.items() if type(one) is int and one >= 0}
