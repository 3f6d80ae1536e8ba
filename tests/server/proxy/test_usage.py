"""What answers say they took."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faultwise.engine.failure.stream import Event
from faultwise.server.proxy.usage import Usage


def events(*documents: Any) -> int | None:
    usage = Usage()
    for one in documents:
        usage.event(Event("", json.dumps(one).encode(), b""))
    return usage.tokens


def test_nothing_said_is_nothing_known() -> None:
    assert Usage().tokens is None
    assert events({"choices": [{"delta": {"content": 'he said "usage": {"total_tokens": 5}'}}]}) is None


@pytest.mark.parametrize(
    ("documents", "tokens"),
    [
        ([{"usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}}], 12),
        ([{"usage": {"prompt_tokens": 5}}], 5),
        ([{"type": "response.completed", "response": {"usage": {"input_tokens": 3, "output_tokens": 4}}}], 7),
        (
            [
                {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}},
                {"type": "message_delta", "usage": {"output_tokens": 30}},
                {"type": "message_delta", "usage": {"output_tokens": 50}},
            ],
            60,
        ),
        ([{"usage": {"input_tokens": 1, "cache_read_input_tokens": 20, "output_tokens": 4}}], 25),
        ([{"usageMetadata": {"totalTokenCount": 5}}, {"usageMetadata": {"totalTokenCount": 9}}], 9),
        ([{"usage": None}, {"usage": {"total_tokens": "many"}}, {"usage": {"total_tokens": -1}}, [{"usage": 1}]], None),
    ],
    ids=["chat", "embeddings", "responses", "messages", "cache", "gemini", "nonsense"],
)
def test_each_wire_has_its_way(documents: list[Any], tokens: int | None) -> None:
    assert events(*documents) == tokens
    if len(documents) == 1:
        usage = Usage()
        usage.document(json.dumps(documents[0]).encode())
        assert usage.tokens == tokens


def test_a_document_that_is_no_json_says_nothing() -> None:
    usage = Usage()
    usage.document(b'"usage" of words')
    usage.document(b"ID3")
    assert usage.tokens is None
