"""What processes share of a bound."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from faultwise.server.proxy import board as module
from faultwise.server.proxy.board import Board, Posted
from faultwise.server.proxy.tally import Tally

# Another worker: does as it is told until there is nothing more to do.
OTHER = """
import sys
from faultwise.server.proxy.board import Board

mine = Board(int(sys.argv[1])).join().tally("x")
for line in sys.stdin:
    what = line.strip()
    if what == "spend":
        with mine:
            mine.requests += 1.0
    print(mine.take(int(what)) if what.isdigit() else (mine.taken, mine.requests), flush=True)
"""


@contextmanager
def other(board: Board) -> Iterator[subprocess.Popen[str]]:
    command, pipe = [sys.executable, "-c", OTHER, str(board.file)], subprocess.PIPE
    with subprocess.Popen(command, pass_fds=[board.file], stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[str], what: object) -> str:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{what}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def test_slots_are_taken_up_to_a_number_and_given_back() -> None:
    for one in (Tally(), Board().join().tally("x")):
        assert [one.take(2), one.take(2), one.take(2)] == [True, True, False]
        one.give()
        assert (one.taken, one.take(2)) == (1, True)


def test_processes_share_what_is_spent_and_the_dead_hold_nothing() -> None:
    board = Board()
    mine = board.join().tally("x")
    with other(board) as one, other(board) as two, other(board) as three:
        assert [ask(one, 2), mine.take(2), ask(two, 2)] == ["True", True, "False"]
        mine.requests = 5.0
        assert ask(two, "spend") == "(2, 6.0)"
        assert ask(three, "look") == "(2, 6.0)"
        one.kill()
        one.wait(10)
        with other(board) as four:  # has the column of the dead one, and clears it
            assert ask(four, "look") == "(1, 6.0)"
            assert ask(two, 2) == "True"


def test_each_name_has_a_row_of_its_own_while_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 3)
    board = Board().join()
    rows = [board.tally(name) for name in "abcd"]
    assert [type(one) for one in rows] == [Posted, Posted, Posted, Tally]
    rows[0].requests = 1.0
    assert [one.requests for one in rows] == [1.0, 0.0, 0.0, 0.0]
    assert board.tally("a").requests == 1.0
