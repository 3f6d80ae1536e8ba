"""Regexes run on RE2, and one that would not do is refused with the reason."""

from __future__ import annotations

import pytest

from faultwise.dsl.regex import Regex


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a", "the regex does not compile: missing ): (a"),
        ("(?=a)", "the regex does not compile: invalid perl operator: (?="),
        (r"(a)\1", r"the regex does not compile: invalid escape sequence: \1"),
        ("((a{100}){100}){100}", "the regex does not compile: invalid repetition size: {100}"),
        ("((abc|def|ghi){30}){30}", "the regex is too large once its repetitions are written out"),
        ("a*", "the regex matches every text"),
        ("x" * 501, "a regex of 501 characters, more than 500"),
        ("\ud800", "a regex with half a surrogate pair"),
    ],
)
def test_a_regex_that_would_not_do_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Regex(pattern)
    assert str(caught.value) == message


def test_case_matters_only_on_raw_text() -> None:
    assert Regex("QUOTA").found("out of quota")
    assert not Regex("QUOTA", folded=False).found("out of quota")


def test_a_regex_may_look_for_the_empty_text() -> None:
    assert Regex("^$").found("")
    assert not Regex("^$").found("x")


def test_the_first_group_that_took_part_is_captured() -> None:
    assert Regex(r"a (\d+)|b (\d+)").captured("b 7") == "7"
    assert Regex(r"额度(不足)").captured("x 额度不足") == "不足"
    assert Regex(r"a(\d)?").captured("a") is None
    assert Regex(r"a (\d+)").captured("b 7") is None


def test_half_a_surrogate_pair_in_the_text_is_no_obstacle() -> None:
    assert Regex("quota").found("\ud800 quota")


def test_a_pattern_that_others_choke_on_takes_no_time() -> None:
    assert not Regex("(a+)+$").found("a" * 60_000 + "b")
