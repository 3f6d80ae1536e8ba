"""What every store promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faultwise.engine.store.base import Data, Row, Store, StoreError
from faultwise.engine.store.memory import Memory
from faultwise.engine.store.open import check_url, open_store
from faultwise.engine.store.sqlite import Sqlite

Make = Callable[[], Store]


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = Memory() if request.param == "memory" else Sqlite(tmp_path / "state.db")
    yield made
    made.close()


def plus(number: int) -> Callable[[Data | None], Data | None]:
    return lambda data: {"count": (data["count"] if data else 0) + number}


def heard(store: Store) -> list[Row]:
    assert store.flush(5)
    found = list(store.inbox)
    store.inbox.clear()
    return found


def test_every_change_is_acknowledged_with_what_it_came_to(store: Store) -> None:
    for number in (1, 2, 3):
        store.submit("count", "a", plus(number), None)
    rows = heard(store)
    assert sum(row.settles for row in rows) == 3
    assert rows[-1].data == {"count": 6}


def test_a_change_to_nothing_removes(store: Store) -> None:
    store.submit("count", "a", plus(1), None)
    store.submit("count", "a", lambda _: None, None)
    assert heard(store)[-1].data is None


def test_keys_of_different_kinds_are_different(store: Store) -> None:
    store.submit("count", "a", plus(1), None)
    store.submit("other", "a", plus(5), None)
    assert {(row.kind, row.data["count"]) for row in heard(store) if row.data} == {("count", 1), ("other", 5)}


def test_only_one_holds_a_claim_until_it_ends_or_is_given_back(store: Store) -> None:
    assert store.claim("probe", "one", 100.0, 190.0)
    assert not store.claim("probe", "two", 101.0, 190.0)
    assert store.claim("probe", "one", 101.0, 190.0)
    store.release("probe", "two")
    assert not store.claim("probe", "two", 102.0, 190.0)
    store.release("probe", "one")
    assert store.claim("probe", "two", 103.0, 190.0)
    assert not store.claim("probe", "three", 189.9, 300.0)
    assert store.claim("probe", "three", 190.0, 300.0)


def test_a_claim_from_the_future_is_void(store: Store) -> None:
    """The clock was put back: nobody would give it back for as long."""
    assert store.claim("probe", "one", 10_000.0, 10_090.0)
    assert store.claim("probe", "two", 5_000.0, 5_090.0)


def test_it_says_how_it_is(store: Store) -> None:
    store.flush(5)
    health = store.health()
    assert (health.status, health.queued, health.error) == ("ok", 0, None)
    assert health.to_json()["kind"] in ("memory", "sqlite")


def test_its_salt_is_not_anothers(store: Store) -> None:
    assert len(store.salt) == 16 and store.salt != Memory().salt


def test_memory_gives_back_what_it_was_given() -> None:
    store = Memory()
    store.submit("count", "a", plus(1), None)
    assert list(store.load()) == [Row("count", "a", {"count": 1})]


def test_an_address_opens_its_store(tmp_path: Path) -> None:
    assert isinstance(open_store("memory://"), Memory)
    made = open_store("sqlite:///here.db", tmp_path, workers=4)
    made.close()
    assert (tmp_path / "here.db").exists()


@pytest.mark.parametrize(
    ("url", "workers", "message"),
    [
        ("memory://", 2, "`memory://` cannot be shared by 2 workers"),
        ("sqlite:///", 1, "names no store"),
        ("redis://here", 1, "names no store"),
        ("nonsense", 1, "`nonsense` names no store that is known here"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(url: str, workers: int, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        check_url(url, workers)
