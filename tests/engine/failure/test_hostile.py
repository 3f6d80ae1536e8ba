"""Whatever an upstream sends: a reading, in bounded time, and never an exception."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.reading import Reading, read
from faultwise.engine.failure.record import PHASES, Failure, Headers

from .conftest import as_bytes

GATEWAY = "litellm.RateLimitError: AcmeException - Error code: 429 - {'error': {'code': '1', 'message': 'it\\'s slow'}}"
SAMPLES: list[Any] = [
    {"error": {"message": "quota exceeded, try again in 3s", "type": "t", "code": "c", "param": None}},
    {"error": {"message": GATEWAY, "type": None, "code": "429"}},
    {"error": {"message": json.dumps({"error": {"code": 429, "details": [{"reason": "R"}], "message": "m"}})}},
    [{"error": {"code": 429, "errors": [{"reason": "x"}], "status": "RESOURCE_EXHAUSTED"}}],
    {"error": {"message": "p", "metadata": {"raw": '{"detail": "额度不足"}'}}},
    {"choices": [{"message": {"content": 'Error: API request failed (429): {"error": {"message": "x"}}'}}]},
    {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "base_resp": {"status_code": 0}},
    {"detail": [{"loc": ["body", 1], "msg": "m", "type": "missing"}]},
    'data: {"choices":[{"delta":{"content":"x"}}]}\n\nevent: error\ndata: {"error":{"message":"boom"}}\n\n',
    "<html><head><title>502</title></head><body>nginx <script>x</script></body></html>",
    '{"a": 1}\n{"error": "x"}\n',
    r"error: \u989d\u5ea6 {\"error\": \"x\"}",
]
INSERTS = [
    b"{",
    b"}",
    b'"',
    b"\\",
    b"\\ud800",
    b"\\u0065",
    b"\0",
    b"null",
    b"\n\n",
    b"data: ",
    b"\xff",
    b"{'a': 1}",
    b"&amp;",
    b"9" * 5000,
]

mutations = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 30), st.sampled_from([b"", *INSERTS]) | st.binary(max_size=8)),
    max_size=6,
)


def everything(reading: Reading) -> list[str]:
    """Ask all there is to ask; every text that came out."""
    reading.at(429)
    assert reading.is_error in (True, False)
    assert reading.status is None or isinstance(reading.status, int)
    for marker in ("quota", "额度", "e", "x y"):
        reading.has_text(marker), reading.has_body(marker), reading.has_outer(marker), reading.has_message(marker)
    _ = reading.key, reading.kind, reading.phase, reading.json, reading.inner_status, reading.request, reading.stated
    single = [
        reading.body,
        reading.body_folded,
        reading.text,
        reading.text_raw,
        reading.terse,
        reading.terse_raw,
        reading.title or "",
    ]
    return [*single, *reading.message, *reading.outer, *reading.code, *reading.type, *reading.param]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(SAMPLES),
    mutations,
    st.sampled_from([200, 302, 400, 429, 503, None]),
    st.sampled_from(PHASES),
    st.sampled_from(
        ["", "text/html", "text/event-stream", "application/json; charset=gbk", "application/vnd.amazon.eventstream"]
    ),
    st.sampled_from([None, b"quota exceeded", b'{"x": "\\ud800 quota"}', b"\xff\0{"]),
)
def test_mutated_bodies_are_read(
    envelopes: Envelopes,
    sample: Any,
    changes: list[tuple[int, int, bytes]],
    status: int | None,
    phase: str,
    kind: str,
    request: bytes | None,
) -> None:
    body = as_bytes(sample)
    for at, length, insert in changes:
        body = body[:at] + insert + body[at + length :]
    headers = Headers([("content-type", kind), ("retry-after", "soon"), ("x-amzn-errortype", "\ud800#a:b")])
    reading = read(Failure(status=status, phase=phase, body=body, headers=headers, request=request), envelopes)
    for text in everything(reading):
        text.encode()
        assert "\0" not in text
    if status == 200 and phase == "response" and reading.is_error and reading.phase not in ("stream", "stream_start"):
        assert envelopes.suspicious(body) or "eventstream" in kind or "html" in kind


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from([200, 500]))
def test_any_bytes_are_read(envelopes: Envelopes, body: bytes, status: int) -> None:
    everything(read(Failure(status=status, body=body), envelopes))


LARGE: dict[str, str] = {
    "long message": json.dumps({"error": {"message": "quota " * 170_000}}),
    "many keys": json.dumps({f"k{number}": number for number in range(10_000)}),
    "many errors": json.dumps({"errors": [{"message": f"{number}: HTTP 401, status 429"} for number in range(2000)]}),
    "deep arrays": "[" * 100_000,
    "deep objects": '{"error":' * 100_000,
    "closed deep objects": '{"error":' * 900 + "1" + "}" * 900,
    "braces": json.dumps({"error": {"message": "{" * 16_000}}),
    "python braces": json.dumps({"error": {"message": "{'a':" * 3_000}}),
    "backslashes": '{"error":"' + "\\" * 60_001,
    "quotes": '"' * 65_000,
    "angles": "<html>" + "<" * 65_000,
    "entities": "<html>" + "&amp;" * 13_000,
    "escapes": "\\u4e00" * 10_000,
    "gateway after gateway": json.dumps({"error": {"message": "litellm.RateLimitError: " * 2_000}}),
    "statuses": json.dumps({"error": {"message": "HTTP 401 status code 429 returned 500 " * 1_600}}),
    "events": 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n' * 1_300,
    "blank lines": "data:" + "\n" * 65_000,
    "lines of json": '{"a":1}\n' * 8_000,
    "nuls": "\0" * 65_000,
}


@pytest.mark.parametrize("status", [200, 403])
@pytest.mark.parametrize("name", LARGE)
def test_large_and_pathological_bodies_take_bounded_time(envelopes: Envelopes, name: str, status: int) -> None:
    body = LARGE[name].encode()
    started = time.perf_counter()
    everything(read(Failure(status=status, body=body, request=b'{"x": "quota"}'), envelopes))
    envelopes.suspicious(body)
    assert time.perf_counter() - started < 1  # a tenth of it when idle; quadratic work would take far more


def test_endless_headers_take_bounded_time(envelopes: Envelopes) -> None:
    headers = Headers(
        [*(("x-a", str(number)) for number in range(20_000)), *((f"x-{number}", "b") for number in range(20_000))]
    )
    started = time.perf_counter()
    assert read(Failure(status=500, headers=headers, body=b"{}"), envelopes).text == ""
    assert time.perf_counter() - started < 1
