"""What a failure says, as the rules see it."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from faultwise.dsl import fold
from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.reading import MOST_LEAVES, TEXT_LIMIT, Reading, read
from faultwise.engine.failure.record import Failure, Headers

from .conftest import Said

CHAT = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
OVERLOADED = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n'
HI = 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'


def nature(reading: Reading) -> tuple[bool, str, int | str | None]:
    return reading.is_error, reading.phase, reading.key


def test_a_status_that_says_error_is_one_whatever_the_body(said: Said) -> None:
    assert nature(said("", 503)) == (True, "response", 503)
    assert nature(said(CHAT, 429)) == (True, "response", 429)


def test_an_answer_that_is_fine_is_none_and_says_nothing(said: Said) -> None:
    reading = said({**CHAT, "error": None}, 200)
    assert nature(reading) == (False, "response", 200)
    assert (reading.text, reading.message, reading.tokens, reading.stated) == ("", (), (), None)
    assert reading.documents == ({**CHAT, "error": None},)


@pytest.mark.parametrize(
    ("body", "phase", "status"),
    [
        ({"error": {"code": 502, "message": "x"}}, "body", 502),
        ({"error": {"code": "8", "status": "RESOURCE_EXHAUSTED"}}, "body", 429),
        ({"error": {"message": "x"}}, "body", 200),
        ({"error": {"message": "gateway: HTTP 503"}}, "body", 503),
        (
            {
                "error": {
                    "code": 1,
                    "message": "failed: Error code: 503 - {'error': {'message': 'm', 'type': 'api_error'}}",
                }
            },
            "body",
            503,
        ),
        ({"error": {"type": "api_error", "message": 'x: {"error": {"code": "rate_limit_exceeded"}}'}}, "body", 429),
        (
            {"error": {"code": 502, "message": "x", "metadata": {"raw": '{"error": {"code": 429, "message": "y"}}'}}},
            "body",
            502,
        ),
        ({"base_resp": {"status_code": 1002, "status_msg": "x"}}, "body", 429),
        ({"status": "449", "msg": "x"}, "body", 449),
        (OVERLOADED, "stream_start", 529),
        (HI + OVERLOADED, "stream", 529),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}, "finish", 400),
        ({"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]}, "finish", 502),
        ("<html><title>Sign in</title></html>", "body", 200),
    ],
)
def test_a_failure_that_came_with_a_200(said: Said, body: Any, phase: str, status: int) -> None:
    assert nature(said(body, 200)) == (True, phase, status)


def test_a_declared_phase_is_kept(said: Said) -> None:
    assert said(HI + OVERLOADED, 200, phase="stream_start").phase == "stream_start"
    reading = said({"error": {"code": "resource_exhausted"}}, 200, phase="stream")
    assert nature(reading) == (True, "stream", 429)


def test_a_status_outside_everything_is_an_error(said: Said) -> None:
    assert nature(said("", 999)) == (True, "response", 999)
    assert nature(said({"error": "x"}, 302)) == (True, "body", 200)
    assert not said("", 204).is_error
    assert nature(said(OVERLOADED, None, phase="stream")) == (True, "stream", 529)


def test_transport_and_local_failures_are_known_by_their_kind(said: Said) -> None:
    assert nature(said("", None, phase="transport", kind="reset")) == (True, "transport", "reset")
    assert nature(said("", None, phase="local", kind="client_gone")) == (True, "local", "client_gone")
    partial = said(HI, 200, phase="transport", kind="idle_timeout")
    assert (partial.key, partial.text) == ("idle_timeout", "")


def test_an_encoding_broken_beyond_reading_is_a_transport_failure(said: Said) -> None:
    packed = gzip.compress(json.dumps(CHAT).encode())[:-8]
    reading = said(packed[:20], 200, {"content-encoding": "gzip"})
    assert nature(reading) == (True, "transport", "bad_encoding")
    assert nature(said(packed, 503, {"content-encoding": "gzip"})) == (True, "response", 503)


def test_a_restated_reading_shares_what_was_read(said: Said) -> None:
    reading = said({"error": {"message": "quota"}}, 403)
    assert reading.text == "quota"
    other = reading.at(429)
    assert (other.status, other.key, other.upstream_status, reading.status) == (429, 429, 403, 403)
    assert other.content is reading.content and other.message is reading.message
    assert said("", None, phase="transport", kind="reset").at(503).key == 503


def test_text_is_codes_types_params_and_messages_folded(said: Said) -> None:
    reading = said({"error": {"message": "ＱＵＯＴＡ  额度", "code": "Code_A", "type": "Type.B", "param": "P"}})
    assert reading.text == "code_a\ntype.b\np\nquota 额度"
    assert (reading.terse, reading.tokens) == ("code_a\ntype.b", ("code_a", "type.b"))
    assert reading.text_raw == "Code_A\nType.B\nP\nＱＵＯＴＡ  额度"
    assert reading.terse_raw == "Code_A\nType.B"


def test_escapes_are_undone_before_anything_is_looked_for(said: Said) -> None:
    reading = said(r'{"error": "\u989d\u5ea6"}')
    assert reading.has_text("额度") and reading.has_body("额度")
    assert said({"error": r"upstream: \u989d\u5ea6 &quot;x&quot;"}).text == 'upstream: 额度 "x"'
    assert said(r"plain \u989d\u5ea6").text == "plain 额度"


def test_a_body_that_is_no_json_is_its_own_message(said: Said) -> None:
    assert said("Too Many  Requests", 429).message == ("Too Many  Requests",)
    page = said("<html><title>Denied</title><body>Ray ID 1</body></html>", 403)
    assert (page.message, page.html, page.title) == (("Denied", "Ray ID 1"), True, "Denied")
    assert page.json is None and page.documents == ()


def test_an_unknown_shape_still_gives_its_texts(said: Said) -> None:
    reading = said({"problem": {"explained": ["Quota  used up", " "], "again": "Quota  used up"}}, 429)
    assert reading.message == ("Quota  used up",)
    assert len(said({f"k{n}": f"v{n}" for n in range(99)}, 429).message) == MOST_LEAVES
    assert said({"problem": "x", "code": "c"}, 429).message == ()
    assert said(["x"], 429).message == ("x",)


def test_an_error_event_under_an_error_status(said: Said) -> None:
    assert said(OVERLOADED, 529).type == ("overloaded_error",)
    assert said('data: {"note": "x"}\n\n', 500).message == ()


def test_headers_that_name_the_error(said: Said) -> None:
    reading = said(
        {"message": "m"},
        429,
        {"X-Amzn-ErrorType": "ThrottlingException:http://acme/", "X-RateLimit-Exceeded": "quota_exceeded"},
    )
    assert (reading.type, reading.code) == (("ThrottlingException",), ("quota_exceeded",))
    assert said("", 429, {"x-amzn-errortype": "A"}).text == "a"


def test_how_an_answer_ended_is_its_type(said: Said) -> None:
    reading = said({"content": [], "stop_reason": "refusal"}, 200)
    assert (reading.type, reading.message) == (("refusal",), ())


def test_documents_are_outermost_first(said: Said) -> None:
    inner = {"error": {"message": "m"}}
    outer = {"error": {"message": json.dumps(inner)}}
    reading = said(outer, 429)
    assert (reading.documents, reading.json) == ((outer, inner), outer)


def test_a_gateways_words_are_outer(said: Said) -> None:
    reading = said({"error": "Upstream error from Acme: quota exhausted"})
    assert (reading.message, reading.outer) == (("quota exhausted",), ("Upstream error from Acme: quota exhausted",))
    assert not reading.has_text("acme") and reading.has_outer("acme")
    assert said({"error": "Error from provider (A): MCP error -503: x"}).inner_status == 503


REQUEST = {"model": "m", "messages": [{"content": "translate: the quota is exceeded, sorry"}]}


def test_an_echo_of_the_request_does_not_count(said: Said) -> None:
    echo = said({"error": {"message": "cannot translate: the quota is exceeded, sorry"}}, request=REQUEST)
    assert not echo.has_text("quota") and not echo.has_message("quota") and not echo.has_body("quota")
    assert echo.echoed(fold("quota is exceeded"), echo.text)
    own = said({"error": {"message": "your quota is exceeded"}}, request=REQUEST)
    assert own.has_text("quota") and own.has_message("quota") and own.has_body("quota")
    assert not own.has_text("nothing of the kind")


def test_an_echo_in_outer_words_does_not_count_either(said: Said) -> None:
    text = "Error from provider (translate: the quota is exceeded, sorry): bad input"
    assert said({"error": text}).has_outer("quota")
    assert not said({"error": text}, request=REQUEST).has_outer("quota")


def test_codes_and_types_always_count(said: Said) -> None:
    request = {"messages": [{"content": 'what is {"error": {"code": "insufficient_quota", "message": "x"}}'}]}
    assert said({"error": {"code": "insufficient_quota", "message": "x"}}, request=request).has_text(
        "insufficient_quota"
    )


def test_no_request_no_guard(said: Said) -> None:
    reading = said({"error": "the quota"})
    assert reading.has_text("quota") and not reading.echoed("quota", reading.text)
    assert reading.request is None


def test_an_error_object_quoted_from_the_request_is_not_read(said: Said) -> None:
    quoted = '{"error": {"code": "insufficient_quota", "message": "no money"}}'
    body = {"error": {"message": f"cannot parse status 400: {quoted}"}}
    assert said(body, request={"messages": [{"content": f"what is {quoted}"}]}).code == ()
    assert said(body).code == ("insufficient_quota",)


def test_the_request_as_json(said: Said) -> None:
    assert said("", request=REQUEST).request == REQUEST
    assert said("", request="not json").request is None


def test_text_is_bounded(said: Said) -> None:
    reading = said({"errors": [{"message": f"{number} " + "x y " * 5000} for number in range(9)]})
    assert len(reading.text) <= TEXT_LIMIT
    assert sum(map(len, reading.message_folded)) <= TEXT_LIMIT


def test_stated_times_are_read(said: Said) -> None:
    reading = said({"error": "slow down"}, 429, {"retry-after": "7"})
    assert reading.stated is not None and reading.stated.seconds == 7.0


def test_frames_of_aws_are_a_stream(envelopes: Envelopes) -> None:
    failure = Failure(
        status=200, headers=Headers({"content-type": "application/vnd.amazon.eventstream"}), body=b"\0" * 20
    )
    assert not read(failure, envelopes).is_error


def test_what_was_recorded_is_there(envelopes: Envelopes) -> None:
    failure = Failure(
        provider="p",
        connection="c",
        model="m",
        host="h",
        egress="e",
        wire="gemini",
        auth="oauth",
        attempt=2,
        now=5.0,
        status=500,
    )
    reading = read(failure, envelopes)
    for name in ("provider", "connection", "model", "host", "egress", "wire", "auth", "attempt", "now", "headers"):
        assert getattr(reading, name) == getattr(failure, name)
    assert (reading.declared, reading.body, reading.kind) == (None, "", None)


RELAYED = 'Error code: 429 - {"error": {"message": "Rate limit", "code": "rate_limit_exceeded"}}'


def test_a_status_in_what_the_client_sent_is_not_the_upstreams(said: Said) -> None:
    request = {"messages": [{"role": "user", "content": f"Please fix this: {RELAYED}"}]}
    echoing = said({"error": {"message": f"content must not contain '{RELAYED}'"}}, request=request)
    assert (echoing.inner_status, echoing.code) == (None, ())
    cut = said(
        {"error": {"message": f"Invalid value: 'Please fix this: {RELAYED[:60]}...' is not allowed"}}, request=request
    )
    assert cut.inner_status is None
    assert said({"error": {"message": RELAYED.replace("Rate", "Token")}}, request=request).inner_status == 429
    assert said({"error": {"message": RELAYED}}).inner_status == 429
    prefixed = said(
        {"error": {"message": "[429 Too Many Requests] slow down"}},
        request={"content": "[429 Too Many Requests] slow down"},
    )
    assert prefixed.inner_status is None


def test_a_letter_that_folds_to_a_sentence_does_not_make_a_book(said: Said) -> None:
    reading = said({"error": {"message": "ﷺ" * 20_000}}, request="ﷺ" * 20_000)
    assert len(reading.body_folded) < 50_000
    assert len(reading.request_text) < 100_000
