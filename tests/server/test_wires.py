"""Every wire and endpoint goes the same way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.faults.upstream import RESET, Answer, Upstream, error, sse

from .gateway import Gateway, config, gateway


@pytest.fixture
def b() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def served(tmp_path: Path, a: Upstream, b: Upstream) -> Iterator[Gateway]:
    """`claude`, `gemini` and `gpt`: two connections each, the first at `a`, the second at `b`."""
    rows = [
        {"id": f"{wire}-{number}", "provider": provider, "wire": wire, "base_url": upstream.url}
        for wire, provider in (("anthropic", "anthropic"), ("gemini", "gemini"), ("openai", "openai"))
        for number, upstream in enumerate((a, b))
    ]
    names = {"anthropic": "claude", "gemini": "gemini", "openai": "gpt"}
    combos = {
        name: [{"connection": f"{wire}-{number}", "model": f"m{number}"} for number in (0, 1)]
        for wire, name in names.items()
    }
    with gateway(tmp_path, config(rows, combos)) as made:
        yield made


MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "hello"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
OVERLOADED = Answer(
    529, json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}).encode()
)
LIMITED = Answer(
    429,
    json.dumps({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}).encode(),
    {"content-type": "application/json", "retry-after": "30"},
)


def named(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


START = named("message_start", message={**MESSAGE, "content": [], "stop_reason": None})
BLOCK = named("content_block_start", index=0, content_block={"type": "text", "text": ""})
TEXT = named("content_block_delta", index=0, delta={"type": "text_delta", "text": "hello"})
STOP = (
    named("content_block_stop", index=0)
    + named("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 1})
    + named("message_stop")
)


def test_the_anthropic_sdk_falls_back_streams_and_reads_errors(served: Gateway, a: Upstream, b: Upstream) -> None:
    a.script(LIMITED)
    b.script(Answer(body=json.dumps(MESSAGE).encode()))
    with anthropic.Anthropic(base_url=served.url, api_key="mine", max_retries=0) as sdk:
        ask: dict[str, Any] = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
        assert sdk.messages.create(**ask).content[0].text == "hello"  # type: ignore[union-attr]
        seen = b.requests[0]
        assert seen.path == "/v1/messages" and seen.json["model"] == "m1"
        assert seen.headers["x-api-key"] == "s3cr3t-anthropic-1" and seen.headers["anthropic-version"]
        b.script(sse(START, BLOCK, TEXT, STOP))
        with sdk.messages.stream(**ask) as stream:
            assert "".join(stream.text_stream) == "hello"
        b.script(sse(START, BLOCK, TEXT, RESET))
        with pytest.raises(anthropic.APIError), sdk.messages.stream(**ask) as stream:
            list(stream.text_stream)
        b.script(LIMITED)
        with pytest.raises(anthropic.RateLimitError, match="slow down") as limited:
            sdk.messages.create(**ask)
        assert limited.value.response.headers["retry-after"]


def test_an_anthropic_stream_that_fails_first_is_never_seen(served: Gateway, a: Upstream, b: Upstream) -> None:
    a.script(sse(START, named("error", error={"type": "overloaded_error", "message": "Overloaded"})))
    b.script(sse(START, BLOCK, TEXT, STOP))
    answer = served.chat("claude", "/v1/messages", stream=True)
    assert answer.content == START + BLOCK + TEXT + STOP
    assert answer.headers["x-faultwise-attempts"] == "2"


def test_an_anthropic_stream_that_fails_later_ends_with_its_own_error_event(served: Gateway, a: Upstream) -> None:
    a.script(sse(START, BLOCK, TEXT, named("error", error={"type": "overloaded_error", "message": "Overloaded"})))
    last = served.chat("claude", "/v1/messages", stream=True).text.split("\n\n")[-2]
    kind, data = last.split("\n")
    told = json.loads(data.removeprefix("data: "))
    assert kind == "event: error" and told["type"] == "error"
    assert told["error"]["message"] == "Overloaded" and told["error"]["reason"] == "overloaded"


def test_oauth_credentials_go_as_bearer(tmp_path: Path, a: Upstream) -> None:
    a.script(Answer(body=json.dumps(MESSAGE).encode()))
    row = {"id": "x", "wire": "anthropic", "auth": "oauth", "base_url": f"{a.url}/v1"}
    with gateway(tmp_path, config([row])) as made:
        made.chat("coding", "/v1/messages")
    assert a.requests[0].headers["authorization"] == "Bearer s3cr3t-x"
    assert "x-api-key" not in a.requests[0].headers


def candidate(text: str, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **more}]}


def test_gemini_goes_by_its_path(served: Gateway, a: Upstream, b: Upstream) -> None:
    a.script(Answer(429, json.dumps({"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED"}}).encode()))
    b.script(Answer(body=json.dumps(candidate("hello", finishReason="STOP")).encode()))
    url = "/v1beta/models/gemini:generateContent?key=mine"
    answer = served.client.post(url, json={"contents": []})
    assert answer.json()["candidates"][0]["content"]["parts"][0]["text"] == "hello"
    assert b.requests[0].path == "/v1beta/models/m1:generateContent"
    assert b.requests[0].headers["x-goog-api-key"] == "s3cr3t-gemini-1"
    b.script(sse(candidate("a"), candidate("b", finishReason="STOP")))
    streamed = served.client.post("/v1beta/models/gemini:streamGenerateContent?alt=sse", json={"contents": []})
    assert streamed.text.count("data: ") == 2
    assert b.requests[1].path == "/v1beta/models/m1:streamGenerateContent?alt=sse"


def test_gemini_errors_have_its_form(served: Gateway) -> None:
    answer = served.client.post("/v1beta/models/nobody:generateContent", json={})
    assert answer.status_code == 404
    told = answer.json()["error"]
    assert (told["code"], told["status"]) == (404, "NOT_FOUND") and told["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"choices": [{"text": "hi", "finish_reason": "stop"}]}),
        ("/v1/embeddings", {"object": "list", "data": [{"embedding": [0.5]}]}),
        (
            "/v1/responses",
            {"object": "response", "status": "completed", "error": None, "output": [{"type": "message"}]},
        ),
        ("/v1/rerank", {"results": [{"index": 0, "relevance_score": 0.5}]}),
        ("/v1/images/generations", {"created": 1, "data": [{"url": "x"}]}),
        ("/v1/audio/speech", {"data": [{"x": 1}]}),
    ],
)
@pytest.mark.parametrize(
    "fault",
    [
        error(403, "额度不足"),
        Answer(200, b'{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}'),
        Answer(before=[RESET]),
    ],
    ids=["status", "in a 200", "reset"],
)
def test_every_openai_endpoint_falls_back(
    served: Gateway, a: Upstream, b: Upstream, path: str, body: dict[str, Any], fault: Answer
) -> None:
    a.script(fault)
    b.script(Answer(body=json.dumps(body).encode()))
    answer = served.chat("gpt", path)
    assert answer.json() == body
    assert answer.headers["x-faultwise-attempts"] == "2"
    assert b.requests[0].path == path and b.requests[0].json["model"] == "m1"


def test_what_may_be_billed_twice_is_not_sent_again_after_a_timeout(served: Gateway, a: Upstream, b: Upstream) -> None:
    a.script(error(504, "timed out"))
    answer = served.chat("gpt", "/v1/images/generations")
    assert answer.status_code == 504
    assert b.requests == []


def test_audio_that_is_no_json_passes(served: Gateway, a: Upstream) -> None:
    a.script(Answer(body=b"\x00\xff" * 100_000, headers={"content-type": "audio/mpeg"}))
    answer = served.chat("gpt", "/v1/audio/speech")
    assert answer.content == b"\x00\xff" * 100_000


def test_a_form_is_passed_on_with_its_model_changed(served: Gateway, a: Upstream) -> None:
    a.script(Answer(body=b'{"text": "hi"}'))
    answer = served.client.post(
        "/v1/audio/transcriptions", data={"model": "gpt"}, files={"file": ("a.wav", b"\x00RIFF\r\n", "audio/wav")}
    )
    assert answer.json() == {"text": "hi"}
    assert b'name="model"\r\n\r\nm0\r\n' in a.requests[0].body and b"\x00RIFF\r\n" in a.requests[0].body


RESPONSE = {"id": "r", "object": "response", "status": "completed", "error": None, "model": "m", "output": []}


def test_a_responses_stream_that_breaks_off_ends_with_an_error_event(served: Gateway, a: Upstream) -> None:
    text = named("response.output_text.delta", delta="hello", item_id="i", output_index=0, content_index=0)
    a.script(sse(named("response.created", response={**RESPONSE, "status": "in_progress"}), text, RESET))
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="x", max_retries=0) as sdk, pytest.raises(openai.APIError):
        list(sdk.responses.create(model="gpt", input="hi", stream=True))
    a.script(sse(named("response.created", response=RESPONSE), text, named("response.completed", response=RESPONSE)))
    answer = served.chat("openai-0/m", "/v1/responses", stream=True)
    assert answer.content.endswith(named("response.completed", response=RESPONSE))


def test_a_combo_without_a_target_of_the_wire_says_so(served: Gateway) -> None:
    answer = served.chat("claude")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "wire_mismatch"


def test_an_endpoint_a_connection_does_not_have_locks_nothing(tmp_path: Path, a: Upstream) -> None:
    row = {"id": "x", "base_url": a.url, "endpoints": ["chat"]}
    with gateway(tmp_path, config([row])) as made:
        answer = made.chat("coding", "/v1/embeddings")
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "no_executable_targets"
        assert answer.json()["diagnostics"]["excluded"][0]["reason"] == "unavailable"
        assert made.chat().status_code == 200
    assert len(a.requests) == 1


def test_the_asynchronous_anthropic_sdk_works_too(served: Gateway, a: Upstream) -> None:
    a.script(Answer(body=json.dumps(MESSAGE).encode()))

    async def ask() -> str:
        async with anthropic.AsyncAnthropic(base_url=served.url, api_key="x", max_retries=0) as sdk:
            hi: Any = [{"role": "user", "content": "hi"}]
            return (await sdk.messages.create(model="claude", max_tokens=9, messages=hi)).content[0].text  # type: ignore[union-attr]

    assert asyncio.run(ask()) == "hello"
