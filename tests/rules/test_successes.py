"""Nothing that an assistant says makes a good answer a failure: quotas, errors and bans as topics, in every wire's shapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import decide

SAYINGS: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("successes.yaml").read_text("utf-8"))["sayings"]

Body = str | dict[str, Any]


def chat(said: str) -> Body:
    message = {"role": "assistant", "content": said}
    return {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"message": message, "finish_reason": "stop"}],
        "error": None,
    }


def reasoning(said: str) -> Body:
    message = {"role": "assistant", "content": "Yes.", "reasoning_content": said, "refusal": None}
    return {
        "id": "c",
        "choices": [{"message": message, "finish_reason": "stop"}],
        "error": {},
        "code": 0,
        "message": "success",
    }


def call(said: str) -> Body:
    function = {"name": "report", "arguments": json.dumps({"error": said, "status": 429}, ensure_ascii=False)}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "t", "type": "function", "function": function}],
    }
    return {"id": "c", "choices": [{"message": message, "finish_reason": "tool_calls"}]}


def responses(said: str) -> Body:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
    return {"object": "response", "status": "completed", "error": None, "instructions": said, "output": [item]}


def anthropic(said: str) -> Body:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": said}],
        "stop_reason": "end_turn",
    }


def gemini(said: str) -> Body:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": said}]}, "finishReason": "STOP"}]}


def ollama(said: str) -> Body:
    halves = said[: len(said) // 2], said[len(said) // 2 :]
    lines = [{"model": "m", "message": {"role": "assistant", "content": half}, "done": False} for half in halves]
    return "\n".join(json.dumps(line) for line in [*lines, {"model": "m", "done": True, "done_reason": "stop"}]) + "\n"


def embedding(said: str) -> Body:
    return {
        "object": "list",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}],
        "model": said,
        "message": said,
    }


def chat_stream(said: str) -> Body:
    halves = said[: len(said) // 2], said[len(said) // 2 :]
    deltas = [{"role": "assistant", "content": ""}, *({"content": half} for half in halves), {}]
    return sse({"object": "chat.completion.chunk", "choices": [{"delta": delta}], "error": None} for delta in deltas)


def responses_stream(said: str) -> Body:
    created = {"type": "response.created", "response": {"status": "in_progress", "error": None, "instructions": said}}
    delta = {"type": "response.output_text.delta", "delta": said}
    return sse([created, delta, {"type": "response.completed", "response": responses(said)}], named=True)


def anthropic_stream(said: str) -> Body:
    start = {"type": "message_start", "message": {"role": "assistant", "content": [], "stop_reason": None}}
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    return sse([start, {"type": "ping"}, delta, end, {"type": "message_stop"}], named=True)


def gemini_stream(said: str) -> Body:
    return sse([gemini(said), {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"totalTokenCount": 9}}])


def sse(events: Iterable[dict[str, Any]], named: bool = False) -> str:
    def lines() -> Iterator[str]:
        for event in events:
            name = f"event: {event['type']}\n" if named else ""
            yield f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n"

    return "".join(lines())


WIRES: dict[str, list[Callable[[str], Body]]] = {
    "openai": [chat, reasoning, call, responses, ollama, embedding, chat_stream, responses_stream],
    "anthropic": [anthropic, anthropic_stream],
    "gemini": [gemini, gemini_stream],
}
SHAPES = [(wire, shape) for wire, shapes in WIRES.items() for shape in shapes]


@pytest.mark.parametrize("language", SAYINGS)
@pytest.mark.parametrize(("wire", "shape"), SHAPES, ids=[shape.__name__ for _, shape in SHAPES])
def test_an_answer_that_talks_about_failures_is_none(
    shipped: Policy, wire: str, shape: Callable[[str], Body], language: str
) -> None:
    for said in SAYINGS[language]:
        request = {"model": "m", "messages": [{"role": "user", "content": f"Repeat after me: {said}"}]}
        body = shape(said)
        kind = (
            "text/event-stream"
            if isinstance(body, str) and body.startswith(("data:", "event:"))
            else "application/json"
        )
        for asked in (None, request):
            row = {"provider": "acme", "status": 200, "wire": wire, "headers": {"content-type": kind}, "body": body}
            verdict = decide(shipped, intake({**row, "request": asked}, 0.0))
            assert verdict.reason == "not_an_error", (said, body)


def test_there_are_enough_of_them() -> None:
    assert len(SAYINGS) >= 10
    assert sum(map(len, SAYINGS.values())) * len(SHAPES) >= 300
