"""The file: shared, durable, and what happens when it cannot be used."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.store import queue
from faultwise.engine.store.base import LOST, Data, Store
from faultwise.engine.store.file import connect
from faultwise.engine.store.sqlite import Sqlite

PATIENCE = 10.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def make(file: Path) -> Iterator[Callable[..., Sqlite]]:
    made: list[Sqlite] = []

    def one(**given: Any) -> Sqlite:
        made.append(Sqlite(file, retry=0.02, **given))
        return made[-1]

    yield one
    for store in made:
        store.close()


def put(value: int) -> Callable[[Data | None], Data | None]:
    return lambda _: {"value": value}


def until(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.002)


def content(file: Path) -> dict[str, str]:
    with closing(sqlite3.connect(file)) as opened:
        return dict(opened.execute("SELECT key, data FROM records WHERE data IS NOT NULL"))


def test_what_was_acknowledged_is_there_after_a_restart(make: Callable[..., Sqlite]) -> None:
    first = make()
    first.submit("lock", "a", put(1), None)
    first.submit("lock", "b", put(2), None)
    first.submit("lock", "b", lambda _: None, None)
    assert first.flush(PATIENCE)
    first.close()
    second = make()
    assert [(row.key, row.data) for row in second.load()] == [("a", {"value": 1})]
    assert second.salt == first.salt


def test_another_process_hears_of_a_change_and_of_a_removal(make: Callable[..., Sqlite]) -> None:
    ours, theirs = make(), make()
    ours.submit("lock", "a", put(1), None)
    until(lambda: [row for row in theirs.inbox if row.data == {"value": 1}])
    theirs.inbox.clear()
    ours.submit("lock", "a", lambda _: None, None)
    until(lambda: [row for row in theirs.inbox if row.data is None])
    assert all(row.settles == 0 for row in theirs.inbox)


def test_changes_of_two_at_once_both_count(make: Callable[..., Sqlite], file: Path) -> None:
    stores = [make(), make()]

    def more(data: Data | None) -> Data:
        return {"value": (data["value"] if data else 0) + 1}

    def work(store: Store) -> None:
        for _ in range(200):
            store.submit("count", "a", more, None)

    threads = [threading.Thread(target=work, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(store.flush(PATIENCE) for store in stores)
    assert content(file) == {"a": '{"value":400}'}


def test_one_claim_at_a_time_in_a_race_of_fifty(make: Callable[..., Sqlite]) -> None:
    stores = [make(), make()]
    for number in range(5):
        won: list[int] = []
        barrier = threading.Barrier(50)

        def race(racer: int, name: str = f"probe-{number}", won: list[int] = won, gate: Any = barrier) -> None:
            gate.wait()
            if stores[racer % 2].claim(name, f"racer-{racer}", 100.0, 190.0):
                won.append(racer)

        threads = [threading.Thread(target=race, args=(racer,)) for racer in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1


def test_a_claim_that_is_given_back_is_free_for_the_other_process(make: Callable[..., Sqlite]) -> None:
    ours, theirs = make(), make()
    assert ours.claim("probe", "one", 100.0, 190.0)
    assert not theirs.claim("probe", "two", 100.0, 190.0)
    ours.release("probe", "one")
    assert ours.flush(PATIENCE)
    assert theirs.claim("probe", "two", 100.0, 190.0)


def test_a_damaged_file_is_kept_aside_and_a_fresh_one_begun(make: Callable[..., Sqlite], file: Path) -> None:
    file.write_bytes(b"this is no database, " * 1000)
    store = make()
    store.submit("lock", "a", put(1), None)
    assert store.flush(PATIENCE)
    health = store.health()
    assert health.status == "ok" and health.set_aside == f"{file}.damaged-1"
    assert Path(health.set_aside).read_bytes().startswith(b"this is no database")
    assert content(file) == {"a": '{"value":1}'}


def test_a_file_damaged_inside_is_told_from_one_that_is_not(make: Callable[..., Sqlite], file: Path) -> None:
    first = make()
    for number in range(500):
        first.submit("lock", f"key-{number}", put(number), None)
    assert first.flush(PATIENCE)
    first.close()
    data = bytearray(file.read_bytes())
    data[4096 + 100 : 4096 * 3] = b"\xff" * (4096 * 2 - 100)
    file.write_bytes(data)
    store = make()
    until(lambda: store.health().set_aside)
    store.submit("lock", "a", put(1), None)
    assert store.flush(PATIENCE)


def test_two_that_find_it_damaged_share_the_fresh_one(make: Callable[..., Sqlite], file: Path) -> None:
    file.write_bytes(b"x" * 5000)
    ours, theirs = make(), make()
    ours.submit("lock", "a", put(1), None)
    until(lambda: [row for row in theirs.inbox if row.data == {"value": 1}])
    assert len(list(file.parent.glob("*.damaged-*"))) <= 3  # the file, and what belonged to it


def test_a_full_disk_keeps_changes_waiting_and_loses_none(make: Callable[..., Sqlite], file: Path) -> None:
    full = threading.Event()

    def limited(*given: Any, **more: Any) -> sqlite3.Connection:
        opened = connect(*given, **more)
        if full.is_set():
            opened.execute("PRAGMA max_page_count = 1")  # SQLite then says what it says of a full disk
        return opened

    full.set()
    store = make(connect=limited)
    for number in range(300):
        store.submit("lock", f"key-{number}", put(number), None)
    until(lambda: store.health().status == "away")
    health = store.health()
    assert health.error == "database or disk is full" and health.queued == 300 and health.since is not None
    assert not store.flush(0.05)
    full.clear()
    assert store.flush(PATIENCE)
    assert store.health().status == "ok" and len(content(file)) == 300


def test_a_file_that_cannot_be_written_is_the_same(make: Callable[..., Sqlite], file: Path) -> None:
    make().close()
    readable = threading.Event()
    readable.set()

    def limited(path: Path, *given: Any, **more: Any) -> sqlite3.Connection:
        opened = connect(path, *given, **more)
        opened.execute(f"PRAGMA query_only = {'on' if readable.is_set() else 'off'}")
        return opened

    store = make(connect=limited)
    store.submit("lock", "a", put(1), None)
    until(lambda: store.health().status == "away")
    assert "readonly" in str(store.health().error)
    assert store.claim("probe", "one", 100.0, 190.0)  # one for each process is the best there is
    assert not store.claim("probe", "two", 100.0, 190.0)
    readable.clear()
    assert store.flush(PATIENCE)
    assert content(file) == {"a": '{"value":1}'}


def test_a_place_where_no_file_can_be_leaves_the_state_in_memory(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    store = Sqlite(tmp_path / "taken" / "state.db", retry=0.01)
    store.submit("lock", "a", put(1), None)
    assert not store.flush(0.05)
    health = store.health()
    assert health.status == "away" and health.queued == 1 and "unable to open" in str(health.error)
    assert store.claim("probe", "one", 100.0, 190.0)
    assert not store.claim("probe", "two", 100.0, 190.0)
    assert list(store.load()) == []
    assert len(store.salt) == 16
    store.close()


def test_a_file_another_process_holds_is_waited_for(make: Callable[..., Sqlite], file: Path) -> None:
    store = make()
    assert store.flush(PATIENCE)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        store.submit("lock", "a", put(1), None)
        assert not store.claim("probe", "one", 100.0, 190.0)  # somebody may have it
        until(lambda: store.health().status == "away")
        assert "locked" in str(store.health().error)
        other.execute("ROLLBACK")
    assert store.flush(PATIENCE)
    assert store.claim("probe", "one", 100.0, 190.0)


def test_a_file_that_was_replaced_gets_what_is_known_here(make: Callable[..., Sqlite], file: Path) -> None:
    store = make()
    store.submit("lock", "a", put(1), None)
    assert store.flush(PATIENCE)
    for path in file.parent.glob("state.db*"):
        path.unlink()
    until(lambda: [row for row in store.inbox if row.kind == LOST])
    store.submit("lock", "a", put(1), None)
    assert store.flush(PATIENCE)
    assert content(file) == {"a": '{"value":1}'}


def test_a_file_of_a_newer_form_is_left_alone(make: Callable[..., Sqlite], file: Path) -> None:
    with closing(sqlite3.connect(file)) as newer:
        newer.execute("PRAGMA user_version = 99")
    store = make()
    assert store.health().status == "away" and "newer" in str(store.health().error)
    assert store.health().set_aside is None


def test_one_bad_change_does_not_hold_up_the_others(make: Callable[..., Sqlite], file: Path) -> None:
    def bad(_: Data | None) -> Data | None:
        raise RuntimeError("a fault of ours")

    store = make()
    store.submit("lock", "a", bad, None)
    store.submit("lock", "b", put(2), None)
    assert store.flush(PATIENCE)
    assert content(file) == {"b": '{"value":2}'}
    assert store.health().faults == 1 and "a fault of ours" in str(store.health().error)


def test_the_queue_is_bounded_and_keeps_the_outcome(
    make: Callable[..., Sqlite], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "QUEUE_LIMIT", 10)
    store = make()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for number in range(100):
            store.submit("lock", "a", put(number), {"value": number})
        other.execute("ROLLBACK")
    assert store.health().collapsed > 0
    assert store.flush(PATIENCE)
    assert sum(row.settles for row in store.inbox) == 100
    assert content(file) == {"a": '{"value":99}'}


def test_removals_are_forgotten_in_the_end_and_nobody_misses_one(
    make: Callable[..., Sqlite], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faultwise.engine.store.sqlite.TOMBSTONES", 100)
    store = make()
    for number in range(500):
        store.submit("lock", f"key-{number}", put(number), None)
    assert store.flush(PATIENCE)
    for number in range(500):
        store.submit("lock", f"key-{number}", lambda _: None, None)
    assert store.flush(PATIENCE)
    with closing(sqlite3.connect(file)) as opened:
        (left,) = opened.execute("SELECT count(*) FROM records").fetchone()
        assert opened.execute("SELECT value FROM meta WHERE name = 'horizon'").fetchone() == ("900",)
    assert left <= 101


def test_what_cannot_be_written_is_dropped_and_the_thread_goes_on(make: Callable[..., Sqlite], file: Path) -> None:
    store = make()
    store.submit("lock", "half \ud800", put(1), None)
    store.submit("lock", "a", lambda _: {"value": "half \ud800"}, None)
    store.submit("lock", "b", put(2), None)
    store.release("half \ud800", "owner")
    assert store.flush(PATIENCE)
    assert content(file) == {"b": '{"value":2}'}
    assert store.health().faults >= 2 and "left out" in str(store.health().error)
    assert store.claim("half \ud800", "owner", 0.0, 1.0)
    store.submit("lock", "c", put(3), None)
    assert store.flush(PATIENCE) and "c" in content(file)


def test_a_record_that_cannot_be_read_is_left_out(make: Callable[..., Sqlite], file: Path) -> None:
    store = make()
    store.submit("lock", "a", put(1), None)
    assert store.flush(PATIENCE)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("UPDATE records SET data = '{' WHERE key = 'a'")
    later = make()
    assert list(later.load()) == [] and later.health().status == "ok" and later.health().faults == 1
