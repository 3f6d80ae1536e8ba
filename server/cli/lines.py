"""A log, in parts that fit into memory, however long its lines are."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

LINE_LIMIT = 4 * 1024 * 1024  # bytes of a line; the rest of a longer one is skipped
PART_LINES = 2000
PART_BYTES = 1024 * 1024

Part = list[tuple[int, bytes]]


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file, or standard input for `-`. Raises OSError."""
    if path == "-":
        yield sys.stdin.buffer
    else:
        with open(path, "rb") as file:
            yield file


def size(path: str) -> int:
    """Bytes of a file, 0 where that is not known."""
    return 0 if path == "-" else os.stat(path).st_size


def parts(file: BinaryIO, advance: Callable[[int], None]) -> Iterator[Part]:
    """Numbered lines, from 1, in their order, some at a time; `advance` is told how many bytes each part had."""
    part: Part = []
    held = number = 0
    while line := file.readline(LINE_LIMIT):
        number += 1
        whole = line
        while not line.endswith(b"\n") and (line := file.readline(LINE_LIMIT)):
            whole = b"a line longer than 4 MiB"  # is reported as a line that cannot be read
        part.append((number, whole))
        held += len(whole)
        if len(part) >= PART_LINES or held >= PART_BYTES:
            advance(held)
            yield part
            part, held = [], 0
    if part:
        advance(held)
        yield part
