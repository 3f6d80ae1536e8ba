"""Durations: strict where an author writes them, lenient where an upstream does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.dsl import duration, shown, spell
from faultwise.dsl.duration import LONGEST, stated

bounded = settings(deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("60", "`60` has no unit, write `60s` for seconds"),
        ("1.5", "`1.5` has no unit, write `1.5s` for seconds"),
        ("", "`` is not a duration, write it like `90s`, `1h30m`, `2d` or `500ms`"),
        ("-5s", "`-5s` is not a duration, write it like `90s`, `1h30m`, `2d` or `500ms`"),
        ("5 s", "`5 s` is not a duration, write it like `90s`, `1h30m`, `2d` or `500ms`"),
        ("1h30", "`1h30` is not a duration, write it like `90s`, `1h30m`, `2d` or `500ms`"),
        ("5w", "`5w` is not a duration, write it like `90s`, `1h30m`, `2d` or `500ms`"),
        ("1m1h", "`1m1h` mixes its units up, write them once each, from days to milliseconds"),
        ("1h1h", "`1h1h` mixes its units up, write them once each, from days to milliseconds"),
        ("3651d", "`3651d` is longer than ten years"),
    ],
)
def test_what_is_no_duration_is_refused_in_words(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        duration(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("500ms", 0.5),
        ("1.5h", 5400),
        ("1d2h3m4s5ms", 93_784.005),
        ("0s", 0),
        ("3650d", LONGEST),
    ],
)
def test_units_add_up(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("", None),
        ("soon", None),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("1e9", None),
        ("99999999999", None),
        ("5 fortnights", None),
        ("5 minutes or so", None),
        ("5s!", None),
        ("p", None),
        ("PT", None),
        ("P1DT", None),
        ("P1Y", None),
        ("9" * 200, None),
        ("30", 30),
        (" 1.5 ", 1.5),
        ("60s", 60),
        ("6m0s", 360),
        ("2m59.56s", 179.56),
        ("250ms", 0.25),
        ("2 hours 5 min", 7500),
        ("1 day, 2 hours and 3 minutes", 93_780),
        ("30 Seconds", 30),
        ("３０ｓ", 30),
        ("PT30S", 30),
        ("PT1H30M", 5400),
        ("P2DT0.5S", 172_800.5),
        ("P9999D", None),
    ],
)
def test_what_an_upstream_states(text: str, seconds: float | None) -> None:
    assert stated(text) == seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (90, "1m30s"),
        (5400, "1h30m"),
        (0.5, "500ms"),
        (61.5, "1m1s500ms"),
        (172_800, "2d"),
        (1e-5, "0.00001s"),
    ],
)
def test_the_canonical_spelling(seconds: float, text: str) -> None:
    assert spell(seconds) == text


@bounded
@given(
    st.one_of(
        st.integers(0, int(LONGEST) * 1000).map(lambda ms: ms / 1000),
        st.floats(1e-9, LONGEST).map(lambda x: round(x, 9)),
    )
)
def test_what_is_spelled_reads_back_as_the_same_number(seconds: float) -> None:
    assert duration(spell(seconds)) == seconds
    assert stated(spell(seconds)) == seconds


@bounded
@given(st.text())
def test_no_text_of_an_upstream_raises(text: str) -> None:
    found = stated(text)
    assert found is None or 0 <= found <= LONGEST


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (60.0, "60 s"),
        (59.99999, "60 s"),
        (0.25, "0.25 s"),
        (83274.49919271469, "83274.499 s"),
        (2592000.0, "2592000 s"),
    ],
)
def test_people_are_shown_no_more_than_milliseconds(seconds: float, text: str) -> None:
    assert shown(seconds) == text
