"""Quota windows, as upstreams tell them."""

from __future__ import annotations

import pytest

from faultwise.engine.routing.window import DAY, HOUR, Window, windows

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {
                "anthropic-ratelimit-unified-5h-utilization": "0.25",
                "anthropic-ratelimit-unified-5h-reset": "1003600",
                "anthropic-ratelimit-unified-7d-utilization": "1.02",
            },
            (Window(0.75, 1_003_600.0, 5 * HOUR), Window(0.0, None, 7 * DAY)),
        ),
        (
            {
                "x-codex-primary-used-percent": "40",
                "x-codex-primary-window-minutes": "300",
                "x-codex-primary-reset-after-seconds": "90",
                "x-codex-secondary-used-percent": "7.5",
            },
            (Window(0.6, NOW + 90, 300 * 60.0), Window(0.925)),
        ),
        (
            {
                "x-ratelimit-limit-requests": "200",
                "x-ratelimit-remaining-requests": "50",
                "x-ratelimit-reset-requests": "1m30s",
                "x-ratelimit-limit-tokens": "1000",
                "x-ratelimit-remaining-tokens": "1000",
                "x-ratelimit-reset-tokens": "soon",
            },
            (Window(0.25, NOW + 90), Window(1.0)),
        ),
        ({"x-ratelimit-limit-requests": "0", "x-ratelimit-remaining-requests": "0"}, ()),
        ({"x-ratelimit-limit-requests": "10"}, ()),
        ({"anthropic-ratelimit-unified-5h-utilization": "nan", "x-codex-primary-used-percent": "-1"}, ()),
        ({"anthropic-ratelimit-unified-5h-utilization": "plenty"}, ()),
        ({}, ()),
    ],
    ids=["anthropic", "codex", "ratelimit", "no limit", "half", "no numbers", "words", "nothing"],
)
def test_headers_are_read(headers: dict[str, str], expected: tuple[Window, ...]) -> None:
    assert windows(headers.get, NOW) == expected


def test_a_window_that_is_over_is_whole_again() -> None:
    window = Window(0.1, NOW)
    assert (window.remaining(NOW - 1), window.remaining(NOW)) == (0.1, 1.0)
    assert Window(0.1).remaining(NOW) == 0.1


def test_a_window_is_long_from_more_than_a_day() -> None:
    assert (Window(1.0).long, Window(1.0, None, DAY).long, Window(1.0, None, 7 * DAY).long) == (False, False, True)
