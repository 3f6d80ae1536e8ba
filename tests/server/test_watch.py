"""What the log says about the store."""

from __future__ import annotations

import pytest

from faultwise.engine.store.base import StoreHealth
from faultwise.server.watch import noticed

FINE = StoreHealth("sqlite", "ok")


def test_it_says_when_the_store_goes_and_comes_back_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="faultwise")
    away = StoreHealth("sqlite", "away", 3, error="disk full")
    before = FINE
    for now in (FINE, away, away, FINE, FINE):
        before = noticed(before, now)
    assert [record.getMessage() for record in caplog.records] == [
        "the store is away: disk full; decisions go on with what is known here, changes wait",
        "the store is back queued=0",
    ]


def test_it_says_that_a_file_was_damaged_and_that_a_change_failed(caplog: pytest.LogCaptureFixture) -> None:
    noticed(FINE, StoreHealth("sqlite", "ok", set_aside="x.damaged-1", faults=1, error="KeyError"))
    assert "kept as x.damaged-1" in caplog.text and "KeyError" in caplog.text
