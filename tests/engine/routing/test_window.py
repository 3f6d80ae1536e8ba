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


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {
                "anthropic-ratelimit-tokens-limit": "80000",
                "anthropic-ratelimit-tokens-remaining": "8000",
                "anthropic-ratelimit-tokens-reset": "1970-01-12T13:47:40Z",
            },
            ("tokens", 0.1, NOW + 60, None),
        ),
        (
            {
                "x-ratelimit-limit-requests-day": "1000",
                "x-ratelimit-remaining-requests-day": "10",
                "x-ratelimit-reset-requests-day": "33011.382867",
            },
            ("requests-day", 0.01, NOW + 33011.382867, DAY),
        ),
        (
            {"x-ratelimit-limit": "20", "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1741305600000"},
            ("x-ratelimit", 0.05, None, None),  # by the clock of this test that is years away
        ),
        (
            {"ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "4", "ratelimit-reset": "12"},
            ("ratelimit", 0.04, NOW + 12, None),
        ),
        ({"ratelimit": "limit=100, remaining=50, reset=30"}, ("ratelimit", 0.5, NOW + 30, None)),
        (
            {"ratelimit": '"day";r=5;t=600', "ratelimit-policy": '"hour";q=9;w=3600, "day";q=50;w=86400'},
            ("day", 0.1, NOW + 600, DAY),
        ),
    ],
    ids=["anthropic", "period", "epoch in ms", "older draft", "draft in one", "draft with policies"],
)
def test_counted_windows_are_read(headers: dict[str, str], expected: tuple[object, ...]) -> None:
    (window,) = windows(headers.get, NOW)
    assert (window.name, window.left, window.reset, window.length) == expected


@pytest.mark.parametrize(
    "reset",
    [
        "1769882430",
        "1769882430000",
        "30",
        "30s",
        "0m30s",
        "0h0m29s1000ms",
        "30000ms",
        "2026-01-31T18:00:30Z",
        "2026-01-31T18:00:30",
    ],
)
def test_a_reset_is_one_whichever_way_it_is_written(reset: str) -> None:
    now = 1769882400.0
    asked = {"x-ratelimit-limit": "2", "x-ratelimit-remaining": "1", "x-ratelimit-reset": reset}
    (window,) = windows(asked.get, now)
    assert window.reset == now + 30


def test_a_draft_without_its_policy_says_nothing() -> None:
    assert windows({"ratelimit": '"x";r=1;t=2'}.get, NOW) == ()
    assert windows({"ratelimit": "remaining=1"}.get, NOW) == ()
