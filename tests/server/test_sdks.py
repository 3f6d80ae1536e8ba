"""The SDKs people use, and plain requests in the wires they do not cover, through a real server on a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.faults.upstream import DONE, Answer, Upstream, delta, error, event, ok, sse

from .gateway import Gateway, config, gateway
from .matrix import named

PLAIN: Any = [{"role": "user", "content": "hi"}]
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.fixture
def bad() -> Iterator[Upstream]:
    """The first target of each combo: out of quota, in every wire."""
    quota = {
        "type": "error",
        "error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"},
    }
    headers = {"content-type": "application/json", "retry-after": "7"}
    with Upstream(Answer(429, json.dumps(quota).encode(), headers)) as upstream:
        yield upstream


@pytest.fixture
def good() -> Iterator[Upstream]:
    with Upstream() as upstream:
        yield upstream


@pytest.fixture
def served(tmp_path: Path, bad: Upstream, good: Upstream) -> Iterator[Gateway]:
    """`gpt`, `claude` and `gemini` fall back from a failing target to a good one; `tired-…` has the failing one alone."""
    rows, combos = [], {}
    for wire, name in (("openai", "gpt"), ("anthropic", "claude"), ("gemini", "gemini")):
        for id, upstream in (("bad", bad), ("good", good)):
            rows.append({"id": f"{id}-{wire}", "provider": f"{id}-{wire}", "wire": wire, "base_url": upstream.url})
        targets = [{"connection": f"{id}-{wire}", "model": f"m-{id}"} for id in ("bad", "good")]
        combos |= {name: targets, f"tired-{name}": targets[:1]}
    rows[0]["models"] = ["m-bad"]
    with gateway(tmp_path, config(rows, combos)) as made:
        yield made


@pytest.fixture
def gpt(served: Gateway) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="mine", max_retries=0) as sdk:
        yield sdk


@pytest.fixture
def claude(served: Gateway) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=served.url, api_key="mine", max_retries=0) as sdk:
        yield sdk


def document(**data: Any) -> Answer:
    return Answer(body=json.dumps(data).encode())


# The OpenAI SDK

CALL = {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bonn"}'}}
TOOLS: Any = [{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}]


def test_chat_with_tools(gpt: openai.OpenAI, good: Upstream) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    good.script(ok(choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}]))
    answer = gpt.chat.completions.with_raw_response.create(model="gpt", messages=PLAIN, tools=TOOLS)
    assert answer.headers["x-faultwise-attempts"] == "2"
    (call,) = answer.parse().choices[0].message.tool_calls or ()
    assert call.type == "function" and json.loads(call.function.arguments) == {"city": "Bonn"}
    assert good.requests[0].json["tools"] == TOOLS and good.requests[0].json["model"] == "m-good"


def _tool_chunk(**function: str) -> dict[str, Any]:
    chunk = delta()
    chunk["choices"][0]["delta"] = {"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": function}]}
    return chunk


def test_streamed_chat_with_tools(gpt: openai.OpenAI, good: Upstream) -> None:
    parts = (
        _tool_chunk(name="weather", arguments='{"city"'),
        _tool_chunk(arguments=': "Bonn"}'),
        delta(finish="tool_calls"),
    )
    good.script(sse(*parts, DONE))
    arguments = ""
    for chunk in gpt.chat.completions.create(model="gpt", messages=PLAIN, tools=TOOLS, stream=True):
        for call in chunk.choices[0].delta.tool_calls or ():
            arguments += (call.function.arguments if call.function else "") or ""
    assert json.loads(arguments) == {"city": "Bonn"}


RESPONSE: dict[str, Any] = {
    "id": "r1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "model": "m",
    "parallel_tool_calls": True,
    "temperature": 1,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1,
    "output": [
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "hello", "annotations": []}],
        }
    ],
}


def test_responses(gpt: openai.OpenAI, good: Upstream) -> None:
    good.script(document(**RESPONSE))
    assert gpt.responses.create(model="gpt", input="hi").output_text == "hello"
    assert good.requests[0].path == "/v1/responses"


def _response_events() -> list[bytes]:
    begun = {**RESPONSE, "status": "in_progress", "output": []}
    where = {"item_id": "m1", "output_index": 0, "content_index": 0, "logprobs": []}
    return [
        named("response.created", response=begun, sequence_number=0),
        named("response.output_text.delta", delta="hel", sequence_number=1, **where),
        named("response.output_text.delta", delta="lo", sequence_number=2, **where),
        named("response.completed", response=RESPONSE, sequence_number=3),
    ]


def test_streamed_responses(gpt: openai.OpenAI, good: Upstream) -> None:
    good.script(sse(*_response_events()))
    events = list(gpt.responses.create(model="gpt", input="hi", stream=True))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == "hello"
    assert events[-1].type == "response.completed"


def test_embeddings_and_completions(gpt: openai.OpenAI, good: Upstream) -> None:
    good.script(
        document(object="list", model="m", data=[{"object": "embedding", "index": 0, "embedding": [0.5, 1.5]}], usage={"prompt_tokens": 1, "total_tokens": 1}),
        document(id="c", object="text_completion", created=1, model="m", choices=[{"index": 0, "text": "hello", "finish_reason": "stop", "logprobs": None}]),
    )  # fmt: skip
    found = gpt.embeddings.create(model="gpt", input="hi", encoding_format="float")
    assert found.data[0].embedding == [0.5, 1.5]
    assert gpt.completions.create(model="gpt", prompt="hi").choices[0].text == "hello"


def test_streamed_completions(gpt: openai.OpenAI, good: Upstream) -> None:
    def chunk(text: str, finish: str | None) -> bytes:
        choice = {"index": 0, "text": text, "finish_reason": finish, "logprobs": None}
        return event({"id": "c", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]})

    good.script(sse(chunk("hel", None), chunk("lo", "stop"), DONE))
    parts = gpt.completions.create(model="gpt", prompt="hi", stream=True)
    assert "".join(part.choices[0].text for part in parts) == "hello"


def test_the_sdk_reads_the_models(gpt: openai.OpenAI) -> None:
    listed = {model.id: model.owned_by for model in gpt.models.list()}
    assert listed["gpt"] == "faultwise" and listed["bad-openai/m-bad"] == "bad-openai"


def test_an_sdk_that_retries_reads_our_wait(served: Gateway, bad: Upstream) -> None:
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="mine", max_retries=0) as sdk:
        with pytest.raises(openai.RateLimitError, match="slow down") as told:
            sdk.chat.completions.create(model="tired-gpt", messages=PLAIN)
        assert told.value.response.headers["retry-after"] == "7"
        assert told.value.code == "rate_limit_exceeded"
        assert told.value.response.headers["x-faultwise-reason"] == "rate_limit_exceeded"


async def _openai_at_once(url: str) -> list[str]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="mine", max_retries=0) as sdk:

        async def ask() -> str:
            stream = await sdk.chat.completions.create(model="gpt", messages=PLAIN, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

        return list(await asyncio.gather(*(ask() for _ in range(8))))


def test_many_asynchronous_streams_at_once(served: Gateway, good: Upstream) -> None:
    good.script(sse(delta("hel"), delta("lo", "stop"), DONE))
    assert asyncio.run(_openai_at_once(served.url)) == ["hello"] * 8


# The Anthropic SDK

ANTHROPIC_TOOLS: Any = [{"name": "weather", "input_schema": WEATHER}]
MESSAGE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Bonn"}}],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
ASK: Any = {"model": "claude", "max_tokens": 9, "messages": PLAIN, "tools": ANTHROPIC_TOOLS}
TOOL_EVENTS = (
    named("message_start", message={**MESSAGE, "content": [], "stop_reason": None}),
    named(
        "content_block_start", index=0, content_block={"type": "tool_use", "id": "t1", "name": "weather", "input": {}}
    ),
    named("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": '{"city"'}),
    named("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": ': "Bonn"}'}),
    named("content_block_stop", index=0),
    named("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 1}),
    named("message_stop"),
)


def test_messages_with_tools(claude: anthropic.Anthropic, good: Upstream) -> None:
    good.script(document(**MESSAGE))
    (block,) = claude.messages.create(**ASK).content
    assert block.type == "tool_use" and block.input == {"city": "Bonn"}
    assert good.requests[0].json["tools"] == ANTHROPIC_TOOLS


def test_streamed_messages_with_tools(claude: anthropic.Anthropic, good: Upstream) -> None:
    good.script(sse(*TOOL_EVENTS))
    with claude.messages.stream(**ASK) as stream:
        (block,) = stream.get_final_message().content
    assert block.type == "tool_use" and block.input == {"city": "Bonn"}


def test_tokens_are_counted(claude: anthropic.Anthropic, good: Upstream) -> None:
    good.script(document(input_tokens=42))
    assert claude.messages.count_tokens(model="claude", messages=PLAIN).input_tokens == 42


def test_the_anthropic_sdk_reads_errors(claude: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.RateLimitError, match="slow down") as told:
        claude.messages.create(**{**ASK, "model": "tired-claude"})
    assert told.value.response.headers["retry-after"] == "7"
    assert isinstance(told.value.body, dict) and told.value.body["error"]["type"] == "rate_limit_error"


async def _anthropic_at_once(url: str) -> list[dict[str, Any]]:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="mine", max_retries=0) as sdk:

        async def ask() -> dict[str, Any]:
            async with sdk.messages.stream(**ASK) as stream:
                (block,) = (await stream.get_final_message()).content
                assert block.type == "tool_use"
                found: dict[str, Any] = dict(block.input)
                return found

        return list(await asyncio.gather(*(ask() for _ in range(8))))


def test_many_asynchronous_message_streams_at_once(served: Gateway, good: Upstream) -> None:
    good.script(sse(*TOOL_EVENTS))
    assert asyncio.run(_anthropic_at_once(served.url)) == [{"city": "Bonn"}] * 8


# Plain requests


def test_gemini_and_its_stream(served: Gateway, good: Upstream) -> None:
    part: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP"}
    good.script(document(candidates=[part]))
    answer = served.client.post("/v1beta/models/gemini:generateContent", json={"contents": []})
    assert answer.json()["candidates"] == [part] and answer.headers["x-faultwise-attempts"] == "2"
    good.script(sse({"candidates": [part]}))
    streamed = served.client.post("/v1beta/models/gemini:streamGenerateContent?alt=sse", json={"contents": []})
    assert streamed.content == event({"candidates": [part]})
    assert good.requests[-1].path == "/v1beta/models/m-good:streamGenerateContent?alt=sse"


def test_rerank_and_images(served: Gateway, good: Upstream) -> None:
    results = {"results": [{"index": 1, "relevance_score": 0.9}]}
    good.script(document(**results))
    asked = {"model": "gpt", "query": "q", "documents": ["a", "b"], "odd": 1.50}
    assert served.client.post("/v1/rerank", json=asked).json() == results
    assert good.requests[-1].json == {**asked, "model": "m-good"}
    good.script(document(created=1, data=[{"b64_json": "AAAA"}]))
    answer = served.client.post("/v1/images/generations", json={"model": "gpt", "prompt": "a fish"})
    assert answer.json()["data"] == [{"b64_json": "AAAA"}]


def test_a_form_goes_on_as_it_came_but_for_its_model(served: Gateway, good: Upstream, bad: Upstream) -> None:
    good.script(document(text="hello"))
    sound = bytes(range(256)) * 40
    request = served.client.build_request(
        "POST", "/v1/audio/transcriptions", data={"model": "gpt", "language": "de"}, files={"file": ("a.wav", sound, "audio/wav")}
    )  # fmt: skip
    sent = request.read()
    assert served.client.send(request).json() == {"text": "hello"}
    assert bad.requests[-1].body == sent.replace(b"\r\n\r\ngpt\r\n", b"\r\n\r\nm-bad\r\n")
    assert good.requests[-1].body == sent.replace(b"\r\n\r\ngpt\r\n", b"\r\n\r\nm-good\r\n")
    assert good.requests[-1].headers["content-type"] == request.headers["content-type"]


def test_speech_passes_as_bytes(served: Gateway, good: Upstream) -> None:
    sound = bytes(range(256)) * 800
    good.script(Answer(body=[sound[:1000], sound[1000:]], headers={"content-type": "audio/mpeg"}))
    answer = served.client.post("/v1/audio/speech", json={"model": "gpt", "input": "hi", "voice": "x"})
    assert (answer.content, answer.headers["content-type"]) == (sound, "audio/mpeg")


def test_the_models_of_a_key_are_those_it_may_use(tmp_path: Path, good: Upstream) -> None:
    from hashlib import sha256

    rows = [{"id": "a", "base_url": good.url, "models": ["m1"]}, {"id": "b", "base_url": good.url, "models": ["m2"]}]
    hashed = f"sha256:{sha256(b'mine').hexdigest()}"
    keys = [{"id": "k", "hash": hashed, "allowed_connections": ["a"]}]
    with gateway(tmp_path, config(rows, keys=keys)) as made:
        assert made.client.get("/v1/models").status_code == 401
        listed = made.client.get("/v1/models", headers={"authorization": "Bearer mine"}).json()
        assert [model["id"] for model in listed["data"]] == ["coding", "a/m1"]
        assert error(401).status == made.chat().status_code
