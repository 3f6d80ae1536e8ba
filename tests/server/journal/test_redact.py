"""Nothing that identifies or opens is kept, and what the rules read stays."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultwise.server.journal.redact import pattern, redacted


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Incorrect API key provided: sk-proj-ab12***xyz.", "Incorrect API key provided: [key]"),
        ("Incorrect API key provided: hunter2hunter", "Incorrect API key provided: [key]"),
        ("Authorization: Bearer abcdef.ghijkl", "Authorization: [key] [key]"),
        ("key AIzaSyA1234567890abcdef is blocked", "key [key] is blocked"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln1", "jwt [key]"),
        ("token aB3dE5fG7hI9jK1lM2nO4 seen", "token [key] seen"),
        ("write to ops@example.com or %40", "write to [email] or %40"),
        ("user alice@tenant-7 over quota", "user [email] over quota"),
        ("request 550e8400-e29b-41d4-a716-446655440000", "request [id]"),
        ("organization org-aZ19bbQ2x9 is closed", "organization [key] is closed"),
        ("my s3cr3t value", "my [key] value"),
    ],
)
def test_what_opens_or_identifies_is_taken_out(text: str, kept: str) -> None:
    assert redacted(text, secrets=["s3cr3t"]) == kept


@pytest.mark.parametrize(
    "text",
    [
        "model `claude-sonnet-4-20250514` not found",
        "claude-3-5-sonnet@20241022 is not available in this region",
        "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        "accounts/fireworks/models/llama-v3p1-405b-instruct",
        '{"error": {"code": "insufficient_quota", "type": "tokens", "message": "max_tokens: 4096 > 2048"}}',
        "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29500, Requested 800. Try again in 600ms",
        "用户额度不足, 请稍后再试 (request id: 2026)",
    ],
)
def test_what_rules_read_stays(text: str) -> None:
    assert redacted(text) == text


def test_json_stays_json_and_keeps_what_is_not_taken_out() -> None:
    prompt = 'my "private" note: \\ meet at nine behind the mill'
    sent = json.dumps({"messages": [{"role": "user", "content": prompt}]}).encode()
    body = {"error": {"message": f"refused: {prompt}", "code": 123, "param": None, "by": "ops@example.com"}}
    kept = redacted(json.dumps(body), sent)
    assert json.loads(kept) == {"error": {"message": "refused: [echo]", "code": 123, "param": None, "by": "[email]"}}


def test_a_whole_request_that_is_quoted_leaves_its_shape_only() -> None:
    request = {"model": "m", "messages": [{"role": "user", "content": "pin 1234"}], "temperature": 0.5}
    kept = redacted(json.dumps({"error": {"message": "bad", "request": request}}), json.dumps(request).encode())
    assert "1234" not in kept and json.loads(kept)["error"]["message"] == "bad"


def test_a_stream_stays_a_stream() -> None:
    text = (
        'event: error\ndata: {"error": {"message": "key sk-abcdef123456 \\u0073k-abcdef654321"}}\n\n: sk-abcdef123456\n'
    )
    assert redacted(text) == 'event: error\ndata: {"error": {"message": "key [key] [key]"}}\n\n: [key]\n'


def test_escapes_hide_nothing() -> None:
    hidden = "".join(f"\\u{ord(one):04x}" for one in "s3cr3t/value")
    assert redacted(f'{{"m": "x {hidden} y"}}', secrets=["s3cr3t/value"]) == '{"m": "x [key] y"}'
    assert redacted('{"m": "s3cr3t\\/value"}', secrets=["s3cr3t/value"]) == '{"m": "[key]"}'
    assert "s3cr3t" not in redacted("not json: " + hidden, secrets=["s3cr3t/value"])


def test_own_patterns_are_taken_out_also_where_json_has_a_number() -> None:
    kept = redacted('{"user": 12345678, "note": "case 12345678"}', patterns=[pattern(r"\d{8}")])
    assert json.loads(kept) == {"user": "[redacted]", "note": "case [redacted]"}


def test_a_pattern_that_is_none_says_why() -> None:
    with pytest.raises(ValueError, match="missing"):
        pattern("(")


@pytest.mark.parametrize("taken", ["nbcd", "u00e9", "0e9x", "efg", r"a\\", r"\\n"])
def test_an_escape_is_never_cut_in_half(taken: str) -> None:
    text = r'{"m": "a\nbcd\"efg\\n\\\u0001 \b00e9x"}'
    kept = redacted(text, patterns=[pattern(taken)])
    assert set(json.loads(kept)) == {"m"}


@settings(max_examples=50)
@given(
    st.recursive(
        st.text() | st.integers() | st.booleans() | st.none(), lambda inner: st.dictionaries(st.text(), inner)
    ),
    st.text('abe19@.-= "\\\\\n', max_size=40),
    st.booleans(),
)
def test_json_stays_json_whatever_it_holds(body: object, noise: str, plain: bool) -> None:
    text = json.dumps({"body": body, noise: f"{noise} sk-abcdef123456 {noise}"}, ensure_ascii=plain)
    kept = redacted(text, noise.encode(), patterns=[pattern("a1|9@")])
    json.loads(kept)
    assert "sk-abcdef123456" not in kept


@pytest.mark.parametrize("piece", ["a@", "api_key:", "\\", "sk-aaaaaaa1\\ "])
def test_no_text_takes_long(piece: str) -> None:
    """Twice the text, about twice the time: the best of some rounds, with room for a busy machine."""

    def best(length: int) -> float:
        text = json.dumps({"m": piece * (length // len(piece))})
        found = []
        for _ in range(3):
            begun = time.perf_counter()
            redacted(text, b"lorem ipsum dolor sit amet " * 100)
            found.append(time.perf_counter() - begun)
        return min(found)

    assert best(8_000) < 16 * best(2_000) + 0.01
