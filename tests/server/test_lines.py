"""Log lines, gathered and written whole."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator

import pytest

from faultwise.server.lines import HELD, Lines


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(stream: io.StringIO) -> Iterator[logging.Logger]:
    made = logging.Logger("faultwise.test")
    made.addHandler(Lines(stream))
    yield made
    made.handlers[0].close()


def test_lines_wait_for_a_flush_and_keep_their_order(log: logging.Logger, stream: io.StringIO) -> None:
    log.info("one %d", 1)
    log.info("two")
    assert stream.getvalue() == ""
    log.handlers[0].flush()
    found = stream.getvalue().splitlines()
    assert [line.split(" ", 2)[2] for line in found] == ["INFO faultwise.test one 1", "INFO faultwise.test two"]
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ", line) for line in found)


def test_a_warning_is_written_at_once_with_what_came_before(log: logging.Logger, stream: io.StringIO) -> None:
    log.info("before")
    try:
        raise KeyError("x")
    except KeyError:
        log.exception("after")
    text = stream.getvalue()
    assert text.index("before") < text.index("after") < text.index("KeyError: 'x'")


def test_many_do_not_wait(log: logging.Logger, stream: io.StringIO) -> None:
    for _ in range(HELD):
        log.info("x")
    assert stream.getvalue().count("\n") == HELD


def test_a_stream_that_is_closed_stops_nobody(log: logging.Logger, stream: io.StringIO) -> None:
    stream.close()
    log.warning("lost")
