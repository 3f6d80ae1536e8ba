"""How far long work has come, on one line of a terminal; nothing where nobody is watching."""

from __future__ import annotations

import sys
import time
from typing import Self, TextIO

EVERY = 0.1  # seconds between two redraws


class Progress:
    """Counts towards a total. `with Progress("replaying", total) as progress: progress.advance(1)`."""

    def __init__(self, label: str, total: int, stream: TextIO | None = None) -> None:
        self._label = label
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._done = 0
        self._drawn = 0.0
        self._shown = self._stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._drawn:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def advance(self, count: int) -> None:
        """So much more is done."""
        self._done += count
        now = time.monotonic()
        if self._shown and now - self._drawn >= EVERY:
            self._drawn = now
            share = f" {100 * self._done // self._total:3d} %" if self._total else f" {self._done}"
            self._stream.write(f"\r{self._label}{share}\033[K")
            self._stream.flush()
