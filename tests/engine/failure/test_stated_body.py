"""Error bodies: google.rpc details, keys that name a wait, headers kept in a body."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.stated.body import KEYS, STEMS, silent, stated
from faultwise.engine.failure.stated.value import LIMIT

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC).timestamp()
SOON = int(NOW) + 90
RPC = "type.googleapis.com/google.rpc."


def detail(kind: str, **said: Any) -> dict[str, Any]:
    return {"error": {"details": [{"@type": RPC + "Help"}, {"@type": RPC + kind, **said}]}}


@pytest.mark.parametrize(
    "delay, seconds",
    [
        ("26s", 26),
        ("56.42777108s", 56.42777108),
        ("250ms", 0.25),
        ("30", 30),
        ({"seconds": 26, "nanos": 500_000_000}, 26.5),
        ({"seconds": "26"}, 26),
        ({"seconds": True}, None),
        ({"seconds": None}, None),
        ({}, None),
        ("0s", None),
        (None, None),
    ],
)
def test_the_delay_of_a_retry_info_is_read(delay: Any, seconds: float | None) -> None:
    rpc, _ = stated([detail("RetryInfo", retryDelay=delay)], NOW)
    assert rpc == (seconds and (pytest.approx(seconds), "error.details[1].retryDelay"))


def test_a_retry_delay_outside_a_retry_info_is_no_wait() -> None:
    assert stated([detail("Help", retryDelay="26s")], NOW) == (None, None)
    assert stated([{"error": {"retryDelay": "26s", "@type": 5}}], NOW) == (None, None)


def test_the_metadata_of_an_error_info_is_read_after_a_retry_info() -> None:
    said = {"quotaResetDelay": "1h30m", "quotaResetTimeStamp": "2026-11-29T13:31:00Z"}
    info = detail("ErrorInfo", metadata=said)
    assert stated([info], NOW)[0] == (5400, "error.details[1].metadata.quotaResetDelay")
    assert stated([info, detail("RetryInfo", retryDelay="5s")], NOW)[0] == (5, "error.details[1].retryDelay")
    moment = detail("ErrorInfo", metadata={"quotaResetTimeStamp": "2026-11-29T13:31:00Z"})
    assert stated([moment], NOW)[0] == (5460, "error.details[1].metadata.quotaResetTimeStamp")


@pytest.mark.parametrize(
    "document, seconds, where",
    [
        ({"error": {"retry_after": 12.5}}, 12.5, "error.retry_after"),
        ({"error": {"retry_after": "12s"}}, 12, "error.retry_after"),
        ({"retryAfter": "2026-11-29T12:05:00Z"}, 300, "retryAfter"),
        ({"retry_after": SOON}, 90, "retry_after"),
        ({"retry_after_ms": 1500}, 1.5, "retry_after_ms"),
        ({"retryAfterMs": "1500"}, 1.5, "retryAfterMs"),
        ({"error": {"metadata": {"retry_after_seconds": 7}}}, 7, "error.metadata.retry_after_seconds"),
        ({"error": {"resets_at": SOON}}, 90, "error.resets_at"),
        ({"error": {"reset_at": SOON * 1000}}, 90, "error.reset_at"),
        ({"resets_at": SOON, "resets_in_seconds": 89}, 89, "resets_in_seconds"),
        ({"reset_time": "37h42m14s"}, 135734, "reset_time"),
        ({"reset_at": "2026-11-29 12:30:00"}, 1800, "reset_at"),
        ({"error": "loading", "estimated_time": 20.0}, 20, "estimated_time"),
        ([{"error": [{"retry_after": 3}]}], 3, "[0].error[0].retry_after"),
        ({"retry_after": 0, "reset_at": SOON}, 90, "reset_at"),
        ({"error": {"message": '{"error": {"retry_after": 5}}'}}, 5, "error.message.error.retry_after"),
        ({"limits": {"remaining": 0, "reset": 30}}, 30, "limits.reset"),
        ({"w": {"used_percent": 100, "reset_at": SOON}}, 90, "w.reset_at"),
        (
            {"m": {"headers": {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{SOON}000"}}},
            90,
            "m.headers.x-ratelimit-reset",
        ),
        ({"headers": {"Retry-After": ["9"]}}, 9, "headers.retry-after"),
    ],
)
def test_a_key_that_names_a_wait_is_read_at_any_depth(document: Any, seconds: float, where: str) -> None:
    assert stated([document], NOW)[1] == (pytest.approx(seconds), where)


@pytest.mark.parametrize(
    "document",
    [
        None,
        "text",
        {},
        {"retry_after": None},
        {"retry_after": True},
        {"retry_after": [5]},
        {"retry_after": float("nan")},
        {"retry_after": float("inf")},
        {"retry_after": 10**400},
        {"retry_after": -5},
        {"retry_after": "9" * 1000},
        {"created": SOON, "expires_at": SOON, "timestamp": "2026-11-29T13:00:00Z"},
        {"reset": 30},
        {"rate_limits": [{"remaining": 5, "reset_seconds": 3}]},
        {"w": {"used_percent": 30, "reset_at": SOON}},
        {"w": {"utilization": 0.3, "reset_at": SOON}},
        {"headers": {"X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "30", "retry-after": True}},
        {"error": {"message": '{"retry_after": '}},
        {5: {"retry_after": "x"}, "k" * 100: 5},
    ],
)
def test_what_names_no_plausible_wait_states_nothing(document: Any) -> None:
    assert stated([document], NOW) == (None, None)


def test_the_innermost_document_speaks_first() -> None:
    assert stated([{"retry_after": 5}, {"retry_after_ms": 9}], NOW)[1] == (5, "retry_after")


def test_a_zoneless_moment_is_in_the_providers_zone() -> None:
    document = {"reset_at": "2026-11-29 20:30:00"}
    assert stated([document], NOW, ZoneInfo("Asia/Shanghai"))[1] == (1800, "reset_at")


def test_every_key_of_the_table_is_read() -> None:
    for key, kind in KEYS.items():
        value = SOON * 1000 if kind == "epoch_ms" else SOON if kind == "instant" else 90
        found = stated([{key: value, "remaining": 0}], NOW)[1]
        assert found and found[0] == (0.09 if kind == "delta_ms" else 90), key


@pytest.mark.parametrize(
    "document",
    [
        {f"retry_after_{at}": 1 for at in range(10_000)},
        [[{"x": at}] for at in range(10_000)],
        ['{"retry":' + "[" * 5_000] * 100,
        ['{"reset":' + "9" * 10_000] * 100,
    ],
)
def test_a_large_document_is_bounded(document: Any) -> None:
    assert stated([document], NOW) == (None, None)


def test_deep_nesting_is_not_followed_to_its_end() -> None:
    document: Any = {"retry_after": 5}
    for _ in range(50_000):
        document = [document]
    assert stated([document], NOW) == (None, None)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
keys = st.sampled_from([*KEYS, "@type", "metadata", "headers", "remaining", "retryDelay"]) | st.text(max_size=8)
documents = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=20
)


@given(documents)
def test_any_document_states_plausible_waits_or_none(document: Any) -> None:
    for found in stated(
        [document, {"@type": RPC + "RetryInfo ErrorInfo", "metadata": document, "retryDelay": document}], NOW
    ):
        assert found is None or 0 < found[0] <= LIMIT


def test_every_key_that_states_a_wait_holds_a_stem() -> None:
    assert all(any(stem in key for stem in STEMS) for key in KEYS)


@pytest.mark.parametrize(
    "text",
    [
        '{"error": {"message": "no", "Retry-After": 5}}',
        '{"error": {"re_try_after": 5}}',
        '{"error": {"\\u0072etry_after": 5}}',
        '{"error": {"message": "{\\"resets_in_seconds\\": 5}"}}',
        '{"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "5s"}]}}',
        '{"error": {"headers": {"x-made-up": 5}}}',
        'data: {"wait": 5}',
        "",
    ],
)
def test_a_body_that_may_state_a_wait_is_read(text: str) -> None:
    assert not silent(text)


@pytest.mark.parametrize("text", ['{"error": {"message": "No quota left", "code": 429}}', "[1, 2]", "{}"])
def test_a_body_without_any_word_of_time_is_not_walked(text: str) -> None:
    assert silent(text)
    assert stated([json.loads(text)], 0.0) == (None, None)
