"""The echo guard."""

from __future__ import annotations

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from faultwise.dsl import fold
from faultwise.engine.failure.decode import cleaned
from faultwise.engine.failure.echo import GAP, echoed, own, quoted, request_text
from faultwise.engine.failure.folded import LONG_FORMS


def sent(text: str) -> str:
    return request_text(json.dumps({"messages": [{"role": "user", "content": text}]}).encode())


def test_what_the_upstream_says_itself_counts() -> None:
    assert not echoed("quota exceeded", "your quota exceeded for today", sent("what does quota exceeded mean?"))
    assert not echoed("quota", "quota", "")


def test_what_it_quotes_from_the_request_does_not() -> None:
    request = sent("please explain: your Quota\n exceeded for today, why?")
    assert echoed("quota exceeded", fold("cannot explain: your quota exceeded for today"), request)


def test_one_occurrence_of_its_own_is_enough() -> None:
    request = sent("your quota exceeded for today")
    assert not echoed("quota exceeded", "your quota exceeded for today | account quota exceeded", request)


def test_a_quote_is_where_the_context_ends() -> None:
    request = sent("额度不足 是什么意思")
    assert echoed("额度不足", "invalid prompt “额度不足”", request)
    assert not echoed("额度不足", "invalid prompt 额度不足", request)


def test_the_end_of_a_message_is_one_too() -> None:
    assert echoed("额度不足", "额度不足", sent("关于额度不足"))


def test_escapes_in_the_request_are_undone() -> None:
    assert "额度不足" in request_text(b'{"content": "\\u989d\\u5ea6\\u4e0d\\u8db3"}')
    assert "额度不足" in request_text(b"not json \\u989d\\u5ea6\\u4e0d\\u8db3")


def test_no_request_no_guard() -> None:
    assert request_text(None) == request_text(b"") == ""


def test_a_marker_that_is_not_there_is_no_witness() -> None:
    assert echoed("quota", "something else", sent("x"))


def test_a_whole_text_that_was_sent_is_quoted() -> None:
    assert quoted('{"error":  "x"}', sent('{"error": "x"}'))
    assert not quoted("x", "")


# without letters that fold to a sentence, of which the end is left out
letters = st.characters(codec="utf-8", exclude_characters=LONG_FORMS)


@given(st.text(letters, max_size=40), st.text(letters, min_size=1, max_size=6))
def test_a_text_sent_and_returned_is_always_an_echo(text: str, marker: str) -> None:
    whole = cleaned(f"{text} {marker} {text}")
    assert echoed(fold(cleaned(marker)) or "x", fold(whole), sent(whole))


def test_a_text_that_repeats_the_marker_is_looked_at_in_bounded_time() -> None:
    started = time.perf_counter()
    echoed("ab", "ab" * 16_000, request_text(b"abcdefgh" * 32_000))
    assert time.perf_counter() - started < 1


PROMPT = "Please fix this: Your account has been suspended, says the page"


def test_a_quotation_escaped_twice_is_one_too() -> None:
    text = "invalid request: " + json.dumps(json.dumps({"role": "user", "content": PROMPT[17:47]}))
    assert echoed("account has been suspended", fold(text), sent(PROMPT))


def test_where_the_upstream_cut_it_off_the_quotation_ends() -> None:
    for end in ("…", "..."):
        assert echoed(
            "been suspended", fold(f"invalid value 'Your account has been suspended{end} is wrong"), sent(PROMPT)
        )
    assert echoed("been suspended", fold("invalid value: ...been suspended, says the page'"), sent(PROMPT))
    assert not echoed("been suspended", fold("it has been suspended..."), sent(PROMPT))


def test_whole_objects_are_known_escaped_and_cut_off() -> None:
    request = sent('why? {"error": {"message": "Rate limit", "code": 429}}')
    assert quoted(r'{\\"error\\": {\\"message\\": \\"Rate limit\\", \\"code\\": 429}}', request)
    assert quoted('{"error": {"message": "Rate lim...\' is not allowed', request)
    assert not quoted('{"error"...', request)
    assert not quoted('{"error": {"message": "Rate exceeded..."}}', request)


def test_what_is_left_of_a_text_is_the_upstreams_and_single_words() -> None:
    request = sent(PROMPT + ' about "gpt-5"')
    text = fold('the model "gpt-5" refused "your account has been suspended" and "so it is"')
    assert own(text, request) == f'the model "gpt-5" refused "{GAP}" and "so it is"'
