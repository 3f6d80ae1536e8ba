"""The log's file: begun anew by size and age, so many kept, nothing lost when somebody moves it away."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from faultwise.server.journal.file import Keep, Rotating, encoded
from faultwise.server.journal.line import moment

NOON = 1_790_000_000.0


def line(number: int, now: float = NOON) -> bytes:
    return encoded({"event": "attempt", "time": moment(now), "n": number})


def numbers(path: Path) -> list[int]:
    return [json.loads(one)["n"] for one in path.read_bytes().splitlines()]


def test_lines_are_appended_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "log.jsonl"
    for number in (1, 2):
        file = Rotating(Keep(path))
        file.write([line(number)], NOON)
        file.close()
    assert numbers(path) == [1, 2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_file_begins_before_the_size_is_passed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    file = Rotating(Keep(path, max_size=2 * len(line(1))))
    for number in range(5):
        file.write([line(number)], NOON)
    file.close()
    assert [numbers(one) for one in (*file.old(), path)] == [[0, 1], [2, 3], [4]]


def test_a_new_file_begins_with_age_also_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    keep = Keep(path, max_age=3600)
    for number, later in enumerate((0, 3599, 3600)):
        file = Rotating(keep)
        file.write([line(number, NOON + later)], NOON + later)
        file.close()
    (old,) = file.old()
    assert (numbers(old), numbers(path)) == ([0, 1], [2])
    assert old.name == "log.jsonl.20260921T151320Z"


def test_only_so_many_old_files_are_kept(tmp_path: Path) -> None:
    file = Rotating(Keep(tmp_path / "log.jsonl", max_size=1, keep=2))
    for number in range(12):
        file.write([line(number)], NOON + number // 6)
    file.close()
    assert [numbers(one) for one in file.old()] == [[9], [10]]


def test_a_file_that_was_moved_away_is_left(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    file, other = Rotating(Keep(path)), Rotating(Keep(path, max_size=1))
    for number, one in enumerate((file, other, file)):
        one.write([line(number)], NOON)
    file.close()
    other.close()
    assert [numbers(one) for one in (*other.old(), path)] == [[0], [1, 2]]


@pytest.mark.parametrize(("policy", "forced"), [("never", 0), ("rotate", 1), ("always", 3)])
def test_lines_are_forced_to_disk_when_it_is_declared(
    tmp_path: Path, policy: str, forced: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(os, "fsync", calls.append)
    file = Rotating(Keep(tmp_path / "log.jsonl", fsync=policy))
    file.write([line(1)], NOON)
    file.write([line(2)], NOON)
    file.close()
    assert len(calls) == forced


def test_a_lone_surrogate_does_not_break_the_line() -> None:
    assert json.loads(encoded({"model": "\ud800"})) == {"model": "\ud800"}
