"""Lines of a log."""

from __future__ import annotations

import pytest

from faultwise.engine.history.log import read


def test_a_line_is_a_failure_with_the_verdict_that_was_recorded() -> None:
    recorded = read(b'{"id": "a", "provider": "x", "status": 429, "verdict": {"reason": "unknown"}}', 7, 5.0)
    assert recorded.failure is not None
    assert (recorded.number, recorded.failure.id, recorded.failure.now) == (7, "a", 5.0)
    assert recorded.verdict == {"reason": "unknown"}


def test_a_failure_may_be_a_key_of_its_own_with_the_time_beside_it() -> None:
    recorded = read(b'{"time": "2026-01-01T00:00:00Z", "failure": {"status": 500}, "other": 1}', 1, 5.0)
    assert recorded.failure is not None
    assert (recorded.failure.status, recorded.failure.now, recorded.verdict) == (500, 1767225600.0, None)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"not json", "Expecting value"),
        (b"\xff\xfe{", "utf-16"),
        (b"[1]", "expected a JSON object"),
        (b'{"status": "x"}', "`status`"),
        (b'{"status": 429, "verdict": 1}', "`verdict`: expected an object"),
        (b'{"status": 429, "time": "soon"}', "`soon` is not an RFC 3339 time"),
        (b'{"failure": 1}', "expected a JSON object"),
        (b"[" * 100_000, ""),
    ],
)
def test_a_line_that_cannot_be_read_says_why_and_nothing_is_raised(line: bytes, error: str) -> None:
    recorded = read(line, 1, 0.0)
    assert recorded.failure is None
    assert error in recorded.error
