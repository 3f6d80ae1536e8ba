"""What is remembered of a target."""

from __future__ import annotations

import pytest

from faultwise.engine.routing.record import Record, Records

NOW = 1_000_000.0


def test_latency_begins_with_the_first_and_follows_slowly() -> None:
    record = Record()
    record.opened(1, 2.0, NOW)
    assert record.latency == 2.0
    record.opened(2, 4.0, NOW)
    assert record.latency == pytest.approx(2.6)


def test_a_request_is_under_way_until_it_is_over() -> None:
    records = Records()
    record = records.of("a")
    assert [record.sent(NOW) for _ in range(2)] == [1, 2]
    record.left()
    assert (record.turn, record.under_way, record.uses(NOW)) == (2, 1, 2.0)


def test_turns_are_counted_over_all_targets() -> None:
    records = Records()
    assert [records.of(name).sent(NOW) for name in "aba"] == [1, 2, 3]


def test_a_record_is_kept_while_its_target_is_configured() -> None:
    records = Records()
    one, _ = records.of("a"), records.of("b")
    records.keep_only(frozenset({"a"}))
    assert records.of("a") is one
    assert records.of("b").turn == 0
