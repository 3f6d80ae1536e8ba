"""What was spent of one bound: slots that are taken, and up to when requests and tokens are spoken for."""

from __future__ import annotations

from typing import Self


class Tally:
    """Of one process. Entered while several of its numbers are looked at and changed together."""

    __slots__ = ("_taken", "requests", "tokens")
    shared = False  # whether others may give back what somebody here waits for

    def __init__(self) -> None:
        self.requests = 0.0
        self.tokens = 0.0
        self._taken = 0

    @property
    def taken(self) -> int:
        """The slots that are taken."""
        return self._taken

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def take(self, most: int) -> bool:
        """Take a slot, where fewer than so many are taken; whether that was so."""
        if self._taken >= most:
            return False
        self._taken += 1
        return True

    def give(self) -> None:
        """Give a slot back."""
        self._taken -= 1
