"""Response headers: `Retry-After` and its kin, and the resets of limits that are used up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.stated.headers import stated
from faultwise.engine.failure.stated.value import KINDS, LIMIT, wait

MOMENT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
NOW = MOMENT.timestamp()
IN_90_S = str(int(NOW) + 90)
PLAN = "anthropic-ratelimit-unified"

RETRY_AFTER = [
    ("30", 30),
    ("1.5", 1.5),
    ("60s", 60),
    ("2m", 120),
    ("5m", 300),
    ("2m59.56s", 179.56),
    ("120 seconds", 120),
    ("500ms", 0.5),
    ('"30"', 30),
    ("in 5 minutes", 300),
    ("PT30S", 30),
    ("Sun, 29 Nov 2026 12:05:00 GMT", 300),
    ("Sunday, 29-Nov-26 12:05:00 GMT", 300),
    ("Sun Nov 29 12:05:00 2026", 300),
    ("2026-11-29T12:05:00Z", 300),
    (IN_90_S, 90),
    (IN_90_S + "000", 90),
]


@pytest.mark.parametrize("value, seconds", RETRY_AFTER)
def test_retry_after_is_read_in_every_form(value: str, seconds: float) -> None:
    assert stated([("Retry-After", value)], NOW) == (pytest.approx(seconds), "retry-after")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "0",
        "-5",
        "5m junk",
        "5 attempts",
        "nan",
        "inf",
        "1e3",
        "9" * 400,
        "Sun, 29 Nov 2020 12:05:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "soon",
        "\udcff",
    ],
)
def test_a_retry_after_that_is_past_negative_or_not_a_time_says_nothing(value: str) -> None:
    assert stated([("retry-after", value)], NOW) is None


@pytest.mark.parametrize(
    "sent, seconds",
    [
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after-ms": "junk", "retry-after": "2"}, 2),
        ({"x-ms-retry-after-ms": "250"}, 0.25),
        ({"grpc-retry-pushback-ms": "700"}, 0.7),
        ({"x-foo-user-retry-after": "465"}, 465),
        ({"x-foo-retry-after-ms": "465"}, 0.465),
        ({"llm_provider-retry-after": "9"}, 9),
    ],
)
def test_the_kin_of_retry_after_is_read(sent: dict[str, str], seconds: float) -> None:
    found = stated(sent.items(), NOW)
    assert found and found[0] == pytest.approx(seconds)


def test_the_first_plausible_of_repeated_values_counts() -> None:
    assert stated([("Retry-After", "0"), ("retry-after", "7")], NOW) == (7, "retry-after")


def test_the_pace_of_a_slow_lane_is_no_wait() -> None:
    assert stated([(f"{PLAN}-slow-retry-after", "20")], NOW) is None


@pytest.mark.parametrize(
    "sent, seconds",
    [
        ({"x-ratelimit-reset": "30"}, 30),
        ({"x-ratelimit-reset": IN_90_S}, 90),
        ({"x-ratelimit-reset": IN_90_S + "000"}, 90),
        ({"x-ratelimit-reset": "1m30s"}, 90),
        ({"x-rate-limit-reset": "12"}, 12),
        ({"ratelimit-reset": "45"}, 45),
        ({"x-ratelimit-reset": "30", "x-ratelimit-remaining": "0"}, 30),
        ({"x-ratelimit-reset": "30", "x-ratelimit-remaining": "0, 0;w=60"}, 30),
        ({"x-ratelimit-reset": "30", "x-ratelimit-remaining": "5"}, None),
        ({"x-ratelimit-reset-after": "12.5", "x-ratelimit-remaining": "0"}, 12.5),
        ({"x-ratelimit-reset-after-ms": "500", "x-ratelimit-remaining": "0"}, 0.5),
        ({"x-quota-reset": "30", "x-quota-status": "rejected"}, 30),
        ({"x-quota-reset": "30", "x-quota-status": "allowed"}, None),
        ({"x-limit-reset": "30", "x-limit-utilization": "0.4"}, None),
        ({"x-limit-reset": "30", "x-limit-available": "0"}, 30),
        ({"x-foo-reset": "30"}, None),
        ({"expires": "Sun, 29 Nov 2027 12:05:00 GMT", "age": "1"}, None),
    ],
)
def test_the_reset_of_a_lone_limit_counts_unless_something_is_left(sent: dict[str, str], seconds: float | None) -> None:
    found = stated(sent.items(), NOW)
    assert (found and found[0]) == (seconds and pytest.approx(seconds))


def resource(left: str | None, reset: str, name: str) -> dict[str, str]:
    return {f"x-ratelimit-reset-{name}": reset} | ({f"x-ratelimit-remaining-{name}": left} if left else {})


def test_of_two_limits_the_one_that_is_used_up_counts() -> None:
    sent = resource("0", "6m0s", "requests") | resource("500", "7h", "tokens")
    assert stated(sent.items(), NOW) == (360, "x-ratelimit-reset-requests")


def test_of_two_limits_that_are_used_up_the_later_counts() -> None:
    sent = resource("0", "1s", "requests") | resource("0", "6m0s", "tokens")
    assert stated(sent.items(), NOW) == (360, "x-ratelimit-reset-tokens")


def test_resets_of_resources_nobody_counts_are_no_wait_unless_something_has_run_out() -> None:
    sent = resource(None, "1s", "requests") | resource(None, "6m0s", "tokens")
    assert stated(sent.items(), NOW) is None
    assert stated((sent | {"x-ratelimit-remaining": "0"}).items(), NOW) == (360, "x-ratelimit-reset-tokens")


def test_limits_with_something_left_are_no_wait() -> None:
    sent = resource("14399", "6s", "requests") | resource("5843", "1.57s", "tokens")
    assert stated(sent.items(), NOW) is None


@pytest.mark.parametrize("status, seconds", [(None, 30), (429, 30), (503, 30), (400, None), (401, None), (200, None)])
def test_an_uncounted_reset_beside_a_request_that_was_let_through_is_no_wait(
    status: int | None, seconds: float | None
) -> None:
    assert stated([("x-ratelimit-reset", "30")], NOW, status=status) == (seconds and (seconds, "x-ratelimit-reset"))
    assert stated([("ratelimit", "limit=9, reset=30")], NOW, status=status) == (seconds and (seconds, "ratelimit"))


@pytest.mark.parametrize(
    "value, seconds",
    [
        ("limit=100, remaining=0, reset=30", 30),
        ("limit=100, remaining=3, reset=30", None),
        ('"default";r=0;t=30', 30),
        ('"burst";r=0;t=5, "day";r=50;t=3600', 5),
        ('"burst";r=0;t=5, "day";r=0;t=3600', 3600),
        ('"default";r=0;t=0', None),
        ("junk", None),
    ],
)
def test_the_ietf_field_is_read(value: str, seconds: float | None) -> None:
    sent = [("RateLimit", value), ("RateLimit-Policy", '"default";q=100;w=60')]
    assert stated(sent, NOW) == (seconds and (seconds, "ratelimit"))


def test_rfc_3339_resets_are_read() -> None:
    sent = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-11-29T12:00:30Z",
        "anthropic-ratelimit-tokens-remaining": "4000",
        "anthropic-ratelimit-tokens-reset": "2026-11-29T12:10:30Z",
    }
    assert stated(sent.items(), NOW) == (30, "anthropic-ratelimit-requests-reset")


def plan(**said: str) -> list[tuple[str, str]]:
    return [(f"{PLAN}-{name.strip('_').replace('_', '-')}", value) for name, value in said.items()]


WINDOWS = {"_5h_reset": str(int(NOW) + 100), "_7d_reset": str(int(NOW) + 1000)}


@pytest.mark.parametrize(
    "sent, seconds",
    [
        (plan(status="rejected", reset=IN_90_S), 90),
        (plan(status="allowed", reset=IN_90_S), None),
        (plan(status="allowed_warning", reset=IN_90_S), None),
        (plan(reset=IN_90_S), 90),
        (plan(status="rejected", representative_claim="seven_day", reset=IN_90_S, **WINDOWS), 1000),
        (plan(status="rejected", representative_claim="unheard_of", reset=IN_90_S, **WINDOWS), 90),
        (plan(status="rejected", _5h_status="rejected", **WINDOWS), 100),
        (plan(_5h_status="rejected", _7d_status="allowed", **WINDOWS), 100),
        (plan(_5h_status="rejected", _7d_status="rejected", **WINDOWS), 1000),
        (plan(_5h_status="allowed", _7d_status="allowed", reset=IN_90_S, **WINDOWS), None),
        (plan(status="rejected"), None),
    ],
)
def test_the_plan_window_that_rejected_counts(sent: list[tuple[str, str]], seconds: float | None) -> None:
    found = stated(sent, NOW)
    assert (found and found[0]) == seconds


def window(name: str, used: str, seconds: str, at: str = "") -> list[tuple[str, str]]:
    stem = f"x-codex-{name}"
    return [(f"{stem}-used-percent", used), (f"{stem}-reset-after-seconds", seconds), (f"{stem}-reset-at", at)]


def test_of_two_windows_the_one_at_100_percent_counts_by_its_own_clock_first() -> None:
    sent = window("primary", "40", "100") + window("secondary", "100", "4000", str(int(NOW) + 4300))
    assert stated(sent, NOW) == (4000, "x-codex-secondary-reset-after-seconds")


def test_a_window_that_tells_only_its_moment_counts_by_it() -> None:
    sent = window("primary", "100", "", IN_90_S) + window("secondary", "0", "0")
    assert stated(sent, NOW) == (90, "x-codex-primary-reset-at")


def test_a_provider_declares_its_own_clocks() -> None:
    kinds = {"x-foo-until": "epoch_ms", "retry-after": "delta_ms"}
    assert stated([("X-Foo-Until", IN_90_S + "000")], NOW, kinds) == (90, "x-foo-until")
    assert stated([("Retry-After", "1500")], NOW, kinds) == (1.5, "retry-after")
    assert stated([("Retry-After", "1500")], NOW, ignore=["retry-after"]) is None


@pytest.mark.parametrize(
    "kind, value, seconds",
    [
        ("delta_s", "30", 30),
        ("delta_ms", "30", 0.03),
        ("duration", "30", 30),
        ("epoch_s", IN_90_S, 90),
        ("epoch_ms", IN_90_S + "000", 90),
        ("instant", IN_90_S, 90),
        ("auto", "30", 30),
        ("auto", "~30s", 30),
    ],
)
def test_each_kind_gives_a_bare_number_its_unit(kind: str, value: str, seconds: float) -> None:
    assert kind in KINDS
    assert wait(value, kind, NOW) == pytest.approx(seconds)


def test_ten_thousand_headers_are_bounded() -> None:
    assert stated([(f"x-ratelimit-reset-{at}", "5") for at in range(10_000)], NOW) is None


names = st.sampled_from(
    ["Retry-After", "retry-after-ms", "ratelimit", "x-ratelimit-reset", "x-ratelimit-remaining", f"{PLAN}-reset"]
) | st.text(max_size=20)
values = st.text(max_size=20) | st.integers().map(str) | st.floats().map(str)


@given(st.lists(st.tuples(names, values), max_size=8), st.sampled_from([None, 200, 400, 429]))
def test_any_headers_state_a_plausible_wait_or_none(sent: list[tuple[str, str]], status: int | None) -> None:
    found = stated(sent, NOW, status=status)
    assert found is None or 0 < found[0] <= LIMIT


@given(st.floats(0.001, 1e8))
def test_a_number_of_seconds_is_read_back(seconds: float) -> None:
    assert stated([("retry-after", f"{seconds:.6f}")], NOW) == (pytest.approx(seconds, abs=1e-6), "retry-after")
