"""A glance never calls trouble ordinary."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faultwise.server.proxy.glance import finishes, ordinary

ANSWERS: list[dict[str, Any]] = [
    {"choices": [{"message": {"content": 'an "error" occurred'}, "finish_reason": "stop"}]},
    {"choices": [{"delta": {"content": "x"}, "finish_reason": None}]},
    {"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}},
    {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]},
    {"data": [{"embedding": [0.1]}]},
]
TROUBLE: list[dict[str, Any]] = [
    {"error": {"message": "x"}},
    {"choices": [{"delta": {}}], "error": {"message": "x"}},
    {"choices": [], "base_resp": {"status_code": 1008}},
    {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]},
    {"choices": [{"message": {"content": "Error: API request failed (429): {}"}, "finish_reason": "stop"}]},
    {"code": 429, "msg": "x", "data": None},
    {"choices": None},
    {},
]


@pytest.mark.parametrize("spaced", [True, False])
@pytest.mark.parametrize("document", ANSWERS, ids=str)
def test_a_plain_answer_is_ordinary(document: dict[str, Any], spaced: bool) -> None:
    separators = (", ", ": ") if spaced else (",", ":")
    assert ordinary(json.dumps(document, separators=separators).encode())


@pytest.mark.parametrize("document", TROUBLE, ids=str)
def test_what_might_be_trouble_is_looked_at(document: dict[str, Any]) -> None:
    assert not ordinary(json.dumps(document).encode())


def test_an_answer_says_why_it_ended() -> None:
    assert finishes(b'{"finish_reason": "stop"}') and finishes(b'{"type":"response.completed"}')
    assert not finishes(b'{"finish_reason": null, "x": "\\"finish_reason\\": \\"stop\\""}')
