"""Log lines on their way to a stream: gathered, so that a busy server does not pay a system call for each."""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TextIO

HELD = 64  # lines at most


class Lines(logging.Handler):
    """Writes whole lines at once: with the next `flush`, with a line that is more than information, or when many wait.

    The server flushes several times a second and when it ends; so does the interpreter.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._held: list[str] = []
        self._second = -1
        self._stamp = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line in."""
        try:
            self._held.append(self._line(record))
            if record.levelno > logging.INFO or len(self._held) >= HELD:
                self.flush()
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Write what is held."""
        self.acquire()
        try:
            held, self._held = self._held, []
            if held:
                with suppress(OSError, ValueError):  # a log nobody reads any more is no reason to stop serving
                    self._stream.write("\n".join(held) + "\n")
                    self._stream.flush()
        finally:
            self.release()

    def _line(self, record: logging.LogRecord) -> str:
        second = int(record.created)
        if second != self._second:
            self._second = second
            self._stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
        said = self.format(record) if record.exc_info or record.stack_info else record.getMessage()
        return f"{self._stamp},{int(record.msecs):03d} {record.levelname} {record.name} {said}"
