"""The same tests on every store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwise.engine.policy.policy import Policy
from faultwise.engine.state.state import State
from faultwise.engine.store.base import Store
from faultwise.engine.store.memory import Memory
from faultwise.engine.store.sqlite import Sqlite

from .world import World


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = Memory() if request.param == "memory" else Sqlite(tmp_path / "state.db")
    yield made
    made.close()


@pytest.fixture
def world(shipped: Policy, store: Store) -> World:
    return World(shipped, State(store))


@pytest.fixture
def plain(shipped: Policy) -> World:
    """On the memory store only."""
    return World(shipped)
