"""Progress is shown to those who watch, and to nobody else."""

from __future__ import annotations

import io

from faultwise.server.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_the_share_and_is_left_clean() -> None:
    terminal = Terminal()
    with Progress("deciding", 200, terminal) as progress:
        progress.advance(50)
    assert terminal.getvalue() == "\rdeciding  25 %\033[K\r\033[K"


def test_without_a_total_the_count_is_shown() -> None:
    terminal = Terminal()
    with Progress("deciding", 0, terminal) as progress:
        progress.advance(50)
        progress.advance(1)  # sooner than a redraw
    assert terminal.getvalue() == "\rdeciding 50\033[K\r\033[K"


def test_a_file_sees_nothing() -> None:
    stream = io.StringIO()
    with Progress("deciding", 200, stream) as progress:
        progress.advance(50)
    assert stream.getvalue() == ""
