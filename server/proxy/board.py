"""What the workers of one server spend of their bounds together: a file without a name, mapped by each of them, in which
every bound has a row, and every process a column for the slots it holds.

What a process held ends with it: its column is kept by a lock, which the system takes away from the dead, and is cleared by
whoever has it next. Needs a system with POSIX record locks.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import tempfile
from hashlib import blake2b
from multiprocessing import reduction
from typing import Any, Self

from .tally import Tally

log = logging.getLogger("faultwise.server")
PROCESSES = 128  # columns: workers, and those that take their place while they go
ROWS = 4096
_HEAD = 3  # of a row, in words of eight bytes: its name, requests, tokens
_WORDS = _HEAD + PROCESSES // 2  # of a row, its columns of four bytes included
_SIZE = ROWS * _WORDS * 8
_TURN, _COLUMNS = _SIZE, _SIZE + 8  # what is locked lies behind what is mapped


class Board:
    """The tallies that the workers of one server share. Passed on to them as it is; each joins."""

    def __init__(self, file: int | None = None) -> None:
        if file is None:
            with tempfile.TemporaryFile() as made:
                made.truncate(_SIZE)
                file = os.dup(made.fileno())
        self.file = file
        self._map = memoryview(mmap.mmap(file, _SIZE))
        self.names = self._map.cast("Q")
        self.times = self._map.cast("d")
        self.counts = self._map.cast("I")
        self.column = -1

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (reduction.DupFd(self.file),)

    def join(self) -> Board:
        """Have a column of one's own in this process. Raises OSError where all are taken."""
        for column in range(PROCESSES):
            try:
                fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _COLUMNS + column)
            except OSError:
                continue
            for row in range(ROWS):
                self.counts[(row * _WORDS + _HEAD) * 2 + column] = 0
            self.column = column
            return self
        raise OSError(f"more than {PROCESSES} processes share the bounds of this server")

    def tally(self, name: str) -> Tally:
        """The tally of that name; the same for all. Where there is no room, one of this process's own."""
        digest = int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) or 1
        self.lock()
        try:
            for step in range(ROWS):
                at = (digest + step) % ROWS * _WORDS
                if self.names[at] in (0, digest):
                    self.names[at] = digest
                    return Posted(self, at)
        finally:
            self.unlock()
        log.warning("the bounds of %s are kept by each worker for itself: there are too many", name)
        return Tally()

    def lock(self) -> None:
        """Keep the others out, for as long as a few numbers take."""
        fcntl.lockf(self.file, fcntl.LOCK_EX, 1, _TURN)

    def unlock(self) -> None:
        """Let them in again."""
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1, _TURN)


class Posted(Tally):
    """A row of a board."""

    __slots__ = ("_at", "_board", "_first", "_mine")
    shared = True

    def __init__(self, board: Board, at: int) -> None:
        self._board = board
        self._at = at
        self._first = (at + _HEAD) * 2
        self._mine = self._first + board.column

    def __enter__(self) -> Self:
        self._board.lock()
        return self

    def __exit__(self, *_: object) -> None:
        self._board.unlock()

    @property
    def requests(self) -> float:
        """Up to when requests are spoken for."""
        return self._board.times[self._at + 1]

    @requests.setter
    def requests(self, value: float) -> None:
        self._board.times[self._at + 1] = value

    @property
    def tokens(self) -> float:
        """Up to when tokens are."""
        return self._board.times[self._at + 2]

    @tokens.setter
    def tokens(self, value: float) -> None:
        self._board.times[self._at + 2] = value

    @property
    def taken(self) -> int:
        """The slots that all processes hold."""
        return sum(self._board.counts[self._first : self._first + PROCESSES])

    def take(self, most: int) -> bool:
        with self:
            free = self.taken < most
            self._board.counts[self._mine] += free
            return free

    def give(self) -> None:
        self._board.counts[self._mine] -= 1


def _received(file: Any) -> Board:
    return Board(file.detach())
