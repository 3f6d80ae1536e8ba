"""Folding makes texts that differ only in form the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.dsl import fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        ("  Rate\tLIMIT \r\n exceeded ", "rate limit exceeded"),
        ("ＲＡＴＥ　ＬＩＭＩＴ", "rate limit"),
        ("Straße", "strasse"),
        ("ﬁle № ②", "file no 2"),
        ("余额\u00a0不足", "余额 不足"),
        ("İ", "i̇"),
        ("e\u0301", "é"),
        ("ǰ", "j\u030c"),  # casefolds to what composes again
        ("\ud800 X", "\ud800 x"),
    ],
)
def test_case_width_ligatures_and_white_space_do_not_matter(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_traditional_and_simplified_script_stay_apart() -> None:
    assert fold("額度") != fold("额度")


def test_every_letter_settles_also_under_an_accent() -> None:
    for letter in map(chr, range(0x20000)):
        for text in (letter, letter + "\u0345"):
            folded = fold(text)
            assert fold(folded) == folded, repr(text)


@settings(deadline=None, derandomize=True, database=None)
@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(deadline=None, derandomize=True, database=None)
@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_gives_the_same(text: str) -> None:
    assert fold(text) == fold(text + " é").removesuffix("é").strip()


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.lists(st.sampled_from(["Ab", "c " * 40, "D" * 99, " ", "\t", "\n", "\v", "\f", "\r", "\x1c", "\x1f", "é"])))
def test_long_and_short_texts_are_folded_alike(parts: list[str]) -> None:
    text = "".join(parts)
    assert fold(text) == " ".join(text.casefold().split())
