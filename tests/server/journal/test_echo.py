"""What the client sent is recognised however an upstream quotes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from faultwise.server.journal.echo import LEAST, echoes

PROMPT = 'Tell the "Blue" team about the\nplan for Zürich: é, 世界和平的计划是什么样子的, 🙂 and C:/temp\\x'


TYPED = st.characters(codec="utf-8", exclude_characters="\\", exclude_categories=("Cc",))


def sent(prompt: str) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()


@pytest.mark.parametrize(
    "text",
    [
        PROMPT,
        json.dumps(PROMPT),
        json.dumps(PROMPT, ensure_ascii=False),
        json.dumps(json.dumps(PROMPT)),
        PROMPT.upper(),
        " ".join(PROMPT.split()),
        PROMPT.replace(" ", "\n  "),
    ],
    ids=["plain", "escaped", "json", "json in json", "upper case", "one line", "wrapped"],
)
def test_a_quoted_prompt_is_found_whole(text: str) -> None:
    told = f"cannot answer: {text} (end of quote)"
    ((start, end),) = echoes(told, sent(PROMPT))
    left, right = (part.replace('"', "").replace("\\", "").strip() for part in (told[:start], told[end:]))
    assert "cannot answer:".startswith(left) and "(end of quote)".endswith(right)  # nothing of it is left outside


def test_what_the_client_did_not_say_is_no_echo() -> None:
    assert echoes("Rate limit reached for this account. Try again in 20s. " * 9, sent(PROMPT)) == []


def test_a_short_phrase_is_no_echo() -> None:
    assert echoes("unknown tool: the plan for Paris", sent("what is the plan for me")) == []


@given(st.text(TYPED, min_size=LEAST, max_size=90), st.data())
def test_any_run_of_that_length_is_found_wherever_it_stands(prompt: str, data: st.DataObject) -> None:
    prompt = " ".join(prompt.split())
    assume(len(prompt) >= LEAST)
    at = data.draw(st.integers(0, len(prompt) - LEAST))
    text = f"before:|{prompt[at : at + LEAST]}|:after"
    found = echoes(text, json.dumps({"p": prompt}).encode())
    assert any(low <= 8 and high >= 8 + LEAST for low, high in found)


def test_a_request_that_repeats_itself_costs_no_more() -> None:
    assert echoes("a" * 16_000, b"a" * 200_000)[0][0] == 0
