"""From JSON to a failure: times."""

from __future__ import annotations

from typing import Any

import pytest

from faultwise.engine.failure.intake import instant, intake


@pytest.mark.parametrize(
    "value",
    [
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+14:00",
        "1969-12-31",
        "soon",
        True,
        1e15,
        -1,
        float("nan"),
        float("inf"),
        10**400,
        10**5000,
        ["2026"],
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_time_that_no_failure_was_seen_at_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="`now`"):
        intake({"status": 500, "now": value}, 0.0)


def test_times_are_read_as_numbers_and_as_text() -> None:
    assert instant("2026-01-01T00:00:00Z") == instant("2026-01-01") == instant(1767225600) == 1767225600.0
    assert instant("9000-12-31T23:59:59Z") < instant(221876928000 - 1) + 1
