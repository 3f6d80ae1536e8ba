"""Writes the log behind the requests: they leave an entry, a thread makes it a line.

Nothing waits for the log. Where it cannot keep up, or the disk will not take it, lines are dropped and counted.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from .file import Keep, Rotating, encoded
from .line import Attempt, Outcome, Row
from .recent import Recent

log = logging.getLogger("faultwise.journal")
Entry = Attempt | Outcome
WEIGHT_LIMIT = 32 * 1024 * 1024  # bytes of bodies that may wait
BATCH = 100  # lines written at once
LEAVING = 5.0  # seconds for what still waits when the server ends


class Journal:
    """The log. `put` and `configure` belong to one thread, the event loop's; the rest may be called from anywhere."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.recent = Recent()
        self.written = 0  # lines in the file
        self._clock = clock
        self._keep: Keep | None = None
        self._limit = 1
        self._waiting: deque[Entry] = deque()
        self._refused = self._lost = 0
        self._put = self._done = 0
        self._weight_in = self._weight_out = 0
        self._file: Rotating | None = None
        self._broken = False
        self._over = False
        self._wake = threading.Event()
        self._settled = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="faultwise-journal", daemon=True)

    @property
    def dropped(self) -> int:
        """Lines lost: too many waited, or they could not be written."""
        return self._refused + self._lost

    @property
    def waiting(self) -> int:
        """Entries not yet written."""
        return self._put - self._done

    def configure(self, keep: Keep | None, limit: int) -> None:
        """Where lines go from the next on (None: memory alone), and how many entries may wait."""
        self._keep, self._limit = keep, limit

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def put(self, entry: Entry) -> None:
        """Leave an entry; dropped where too many wait."""
        weight = entry.weight
        if len(self._waiting) >= self._limit or self._weight_in - self._weight_out + weight > WEIGHT_LIMIT:
            self._refused += 1
            return
        self._put += 1
        self._weight_in += weight
        self._waiting.append(entry)
        self._wake.set()

    def settle(self, patience: float) -> bool:
        """Wait until everything that was put is written; whether it was. Blocks."""
        until = self._put
        with self._settled:
            return self._settled.wait_for(lambda: self._done >= until, patience)

    def close(self, patience: float = LEAVING) -> None:
        """Write what waits, within so many seconds, and end. Blocks."""
        self._over = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(patience)

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            over = self._over  # read first: what was put before the end is written
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
                self._take(batch)
            if over:
                break
        if self._file is not None:
            self._guarded(self._file.close, 0)

    def _take(self, batch: list[Entry]) -> None:
        rows = [row for entry in batch if (row := self._row(entry)) is not None]
        self._guarded(lambda: self._write(rows), len(rows))
        self.recent.add(rows)
        with self._settled:
            self._done += len(batch)
            self._weight_out += sum(entry.weight for entry in batch)
            self._settled.notify_all()

    def _row(self, entry: Entry) -> Row | None:
        try:
            return entry.row()
        except Exception:  # one entry must not end the log, and never goes out unredacted
            self._lost += 1
            log.exception("a line of the decision log could not be made")
            return None

    def _write(self, rows: list[Row]) -> None:
        keep = self._keep
        if self._file is not None and self._file.keep != keep:
            self._file.close()
            self._file = None
        if keep is None or not rows:
            return
        if self._file is None:
            self._file = Rotating(keep)
        self._file.write([encoded(row) for row in rows], self._clock())
        self.written += len(rows)
        self._broken = False

    def _guarded(self, work: Callable[[], None], lines: int) -> None:
        """Do what the disk may refuse. Said once, until it works again."""
        try:
            work()
        except OSError as error:
            self._lost += lines
            if not self._broken:
                log.error("the decision log cannot be written: %s", error)
            self._broken = True
