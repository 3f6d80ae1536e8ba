"""A file of lines that begins anew by size and age, and keeps so many of the old.

An old file has the time of its end in its name: `decisions.jsonl` becomes `decisions.jsonl.20261129T223118Z`. Several
processes may write the same file: lines are appended whole, and a file that another has moved away is left.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

FSYNC = ("never", "rotate", "always")  # when lines are forced to disk: left to the system; at a file's end; each batch
FIRST_LINE = 4096  # bytes of an old file that are read for its age


@dataclass(frozen=True, slots=True)
class Keep:
    """How a log is kept. Sizes in bytes, ages in seconds."""

    file: Path
    max_size: int = 64 * 1024 * 1024
    max_age: float = 86_400.0
    keep: int = 10  # old files
    fsync: str = "rotate"


class Rotating:
    """The file in use. Every method may raise OSError."""

    def __init__(self, keep: Keep) -> None:
        self.keep = keep
        self._file: BinaryIO | None = None
        self._born = 0.0
        self._size = 0

    def write(self, lines: list[bytes], now: float) -> None:
        """Append lines, in a new file where it is time."""
        file = self._open(now)
        size = sum(map(len, lines))
        if self._size and (self._size + size > self.keep.max_size or now - self._born >= self.keep.max_age):
            self._rotate(now)
            file = self._open(now)
        file.write(b"".join(lines))
        file.flush()
        self._size += size
        if self.keep.fsync == "always":
            os.fsync(file.fileno())

    def close(self) -> None:
        """End the file."""
        file, self._file = self._file, None
        if file is None:
            return
        with file:
            file.flush()
            if self.keep.fsync != "never":
                os.fsync(file.fileno())

    def _open(self, now: float) -> BinaryIO:
        file = self._file
        if file is not None and self._is_current(file):
            return file
        self.close()
        path = self.keep.file
        path.parent.mkdir(parents=True, exist_ok=True)
        # redacted as it may be, it says what clients do: for its owner alone
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab", buffering=1024 * 1024)
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._born = _born(path, now) if self._size else now
        return file

    def _is_current(self, file: BinaryIO) -> bool:
        try:
            return os.path.samestat(os.stat(self.keep.file), os.fstat(file.fileno()))
        except FileNotFoundError:
            return False

    def _rotate(self, now: float) -> None:
        self.close()
        path = self.keep.file
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
        clash = [one.name for one in self.old() if stamp in one.name]
        number = int(clash[-1].partition(f"{stamp}-")[2] or 1) + 1 if clash else 0
        old = path.with_name(f"{path.name}.{stamp}" + (f"-{number:03}" if number else ""))
        with suppress(FileNotFoundError):  # another process was faster
            path.rename(old)
        for gone in self.old()[: -self.keep.keep]:
            gone.unlink(missing_ok=True)

    def old(self) -> list[Path]:
        """The files that were ended, the oldest first."""
        name = self.keep.file.name
        return sorted(path for path in self.keep.file.parent.iterdir() if path.name.startswith(f"{name}.2"))


def _born(path: Path, now: float) -> float:
    """When a file that is there began: the time of its first line."""
    with path.open("rb") as file:
        line = file.readline(FIRST_LINE)
    try:
        return datetime.fromisoformat(line.split(b'"time": "', 1)[1].split(b'"', 1)[0].decode()).timestamp()
    except (IndexError, ValueError):
        return now


def encoded(row: object) -> bytes:
    """A row as a line. A lone surrogate is escaped: the line must be UTF-8."""
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
