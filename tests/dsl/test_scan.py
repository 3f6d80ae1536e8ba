"""One pass over a text finds what looking for each marker finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.dsl.closures import guarded, holds_any
from faultwise.dsl.scan import DFA_UP_TO, SCAN_ABOVE, first_used

LETTERS = "ab余é "

markers = st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=3 * SCAN_ABOVE, unique=True)


@given(markers, st.text(LETTERS + "x", max_size=60))
def test_a_scan_finds_what_stands_in_a_text(markers: list[str], text: str) -> None:
    there = {marker for marker in markers if marker in text}
    assert first_used(tuple(markers))(text) == there
    assert holds_any(tuple(markers))(text) is bool(there)


@given(markers, st.text(LETTERS, max_size=60), st.sampled_from(LETTERS))
def test_a_field_that_answers_itself_is_asked_about_what_stands_there(markers: list[str], text: str, own: str) -> None:
    holds = guarded(lambda subject, marker: own in marker, lambda subject: text, tuple(markers))
    assert holds(None) is any(marker in text and own in marker for marker in markers)


@pytest.mark.parametrize("count", [1, SCAN_ABOVE, SCAN_ABOVE + 1, DFA_UP_TO + 1])
def test_however_many_markers_there_are_all_are_looked_for(count: int) -> None:
    row = tuple(f"<{number}>" for number in range(count))
    assert first_used(row)(f"the last is {row[-1]}, and {row[0]}") == {row[0], row[-1]}


def test_the_empty_marker_stands_in_every_text() -> None:
    assert holds_any(("", *map(str, range(SCAN_ABOVE))))("x")


def test_a_text_that_is_missing_holds_nothing() -> None:
    row = tuple(map(str, range(SCAN_ABOVE + 1)))
    assert not guarded(lambda subject, marker: True, lambda subject: None, row)(None)
