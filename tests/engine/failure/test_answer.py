"""What counts as content, in each wire, in whole answers and in events."""

from __future__ import annotations

from typing import Any

import pytest

from faultwise.engine.failure.answer import has_content

SPOKEN: list[Any] = [
    {"choices": [{"delta": {"content": "x"}}]},
    {"choices": [{"delta": {"reasoning_content": "x"}}]},
    {"choices": [{"delta": {"reasoning": "x"}}]},
    {"choices": [{"delta": {"refusal": "no"}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]},
    {"choices": [{"delta": {"function_call": {"name": "f"}}}]},
    {"choices": [{"delta": {"audio": {"data": "…"}}}]},
    {"choices": [{"delta": {"images": [{"image_url": {"url": "data:"}}]}}]},
    {"choices": [{"text": "x"}]},
    {"choices": [{"message": {"content": [{"type": "text", "text": "x"}]}}]},
    {"type": "content_block_start", "content_block": {"type": "tool_use", "name": "f", "input": {}}},
    {"type": "content_block_start", "content_block": {"type": "redacted_thinking", "data": ""}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}},
    {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "x"}},
    {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": ""}},
    {"type": "message", "content": [{"type": "text", "text": "x"}]},
    {"type": "response.output_text.delta", "delta": "x"},
    {"type": "response.function_call_arguments.delta", "delta": "{"},
    {"type": "response.output_item.added", "item": {"type": "function_call", "arguments": ""}},
    {"type": "response.image_generation_call.partial_image", "partial_image_b64": "…"},
    {"object": "response", "output": [{"type": "message", "content": [{"type": "output_text", "text": "x"}]}]},
    {"candidates": [{"content": {"parts": [{"text": "x"}]}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]},
    [{"candidates": [{"content": {"parts": [{"inlineData": {"data": "…"}}]}}]}],
    {"model": "m", "message": {"role": "assistant", "content": "x"}, "done": False},
    {"model": "m", "response": "x", "done": False},
]

SILENT: list[Any] = [
    {},
    [],
    None,
    "text",
    {"choices": []},
    {"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
    {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": []}}]},
    {"choices": [], "usage": {"completion_tokens": 5}},
    {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"output_tokens": 1}}},
    {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "delta": {"type": "signature_delta", "signature": "…"}},
    {"type": "ping"},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message", "content": [{"type": "text", "text": ""}]},
    {
        "type": "response.created",
        "response": {"status": "in_progress", "output": [], "text": {"format": {"type": "text"}}},
    },
    {"type": "response.output_item.added", "item": {"type": "message", "content": []}},
    {"type": "response.content_part.added", "part": {"type": "output_text", "text": ""}},
    {"candidates": [{"finishReason": "SAFETY"}]},
    {"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}}], "usageMetadata": {}},
]


@pytest.mark.parametrize("document", SPOKEN)
def test_content(document: Any) -> None:
    assert has_content(document)


@pytest.mark.parametrize("document", SILENT)
def test_no_content(document: Any) -> None:
    assert not has_content(document)


def test_depth_is_bounded() -> None:
    document: dict[str, Any] = {"content": "x"}
    for _ in range(20):
        document = {"message": document}
    assert not has_content(document)
