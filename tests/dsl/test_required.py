"""What a regex cannot match without."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.dsl import fold
from faultwise.dsl.regex import Regex
from faultwise.dsl.required import MOST, required


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("Quota", {"quota"}),
        (r"\brate limit\b", {"rate limit"}),
        (r"error (code: ?)?1015", {"error 1015", "error code:1015", "error code: 1015"}),
        (r"model.{0,40}overloaded", {"overloaded"}),
        (r"too many (requests|tokens) per \w+", {"too many requests per ", "too many tokens per "}),
        (r"used? up", {"use up", "used up"}),
        (r"organi[sz]ation", {"organisation", "organization"}),
        (r"(calls|requests)+ ?a ?day", {"requests", "calls"}),
        (r"quota|credits?", {"quota", "credit"}),
        (r"exceeded\.$", {"exceeded."}),
        (r"per\/day", {"per/day"}),
        (r"余额.{0,8}不足", {"余额"}),
        ("ÉPUISÉ", {"épuisé"}),
        (r"(?i)Quota(?P<what>s)", {"quotas"}),
        (r"(?:limit){2,}", {"limit"}),
        (r"(?:limit){1}s", {"limits"}),
        (r"a{3}bcd", {"bcd"}),
        ("x{ab", {"x{ab"}),
        (r"[\[\]]quota", {"[quota", "]quota"}),
        (r"[]a]quota[^x]", {"quota"}),
        ("[[:alpha:]]quota", {"quota"}),
        (r"\d+ tokens", {" tokens"}),
    ],
)
def test_the_literals_of_which_one_must_stand_in_the_text(pattern: str, literals: set[str]) -> None:
    assert Regex(pattern)
    assert required(pattern) == literals


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d+/0",  # too short
        r"quota|\d+",  # one side has none
        r"(quota)?\d",
        r"(quota)*\d",
        r"(quota){0,3}\d",
        r"(q.o)?t",
        r"\pLquota",  # what is not read is not guessed at
        r"\x71uota",
        r"\Qquota\E",
        "|".join(f"m{number:02}x" for number in range(MOST + 1)),
    ],
)
def test_patterns_without_such_literals(pattern: str) -> None:
    assert Regex(pattern)
    assert required(pattern) is None


@pytest.mark.parametrize("pattern", ["(quota", "quota)", "[quota", "quota\\"])
def test_what_is_no_pattern_has_none(pattern: str) -> None:
    assert required(pattern) is None


atoms = st.sampled_from(
    (
        "quota",
        "Limit",
        "k",
        "s",
        "ß",
        "É",
        "余额",
        r"\d",
        ".",
        r"\b",
        "^",
        "$",
        " ",
        r"\.",
        "[ab]",
        "[^a]",
        "(?i)",
        "{",
        r"\s",
    )
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(("?", "*", "+", "{2}", "{0,2}", "{1,}", "??"))).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)
texts = st.lists(
    st.sampled_from(("quota", "LIMIT", "ſ", "K", "ẞ", "é", "余额", "7", " ", ".", "a", "b", "{", "x", "\n")), max_size=8
).map("".join)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(patterns, texts)
def test_a_folded_text_that_matches_holds_one(pattern: str, text: str) -> None:
    try:
        regex = Regex(pattern)
    except ValueError:
        return
    literals, folded = required(pattern), fold(text)
    if literals is not None and regex.found(folded):
        assert any(literal in folded for literal in literals)
