"""A glance never calls trouble ordinary."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.policy.policy import Policy
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
    {"success": False, "data": [{}], "message": "no balance"},
    {"choices": [{"delta": {}}], "code": 429, "message": "slow down"},
    {"promptFeedback": {"blockReason": "SAFETY"}, "candidates": [{}]},
]
WORDS = st.sampled_from(
    (
        "error",
        "success",
        "code",
        "message",
        "msg",
        "status",
        "base_resp",
        "status_code",
        "finishReason",
        "type",
        "detail",
    )
)
VALUES: Any = st.recursive(
    st.sampled_from((None, True, False, 0, 1, 200, 429, "429", "ok", "", "error", "failed", "SAFETY", "no balance")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("spaced", [True, False])
@pytest.mark.parametrize("document", ANSWERS, ids=str)
def test_a_plain_answer_is_ordinary(shipped: Policy, document: dict[str, Any], spaced: bool) -> None:
    separators = (", ", ": ") if spaced else (",", ":")
    assert ordinary(json.dumps(document, separators=separators).encode(), shipped.envelopes)


@pytest.mark.parametrize("document", TROUBLE, ids=str)
def test_what_might_be_trouble_is_looked_at(shipped: Policy, document: dict[str, Any]) -> None:
    assert not ordinary(json.dumps(document).encode(), shipped.envelopes)


def test_an_answer_says_why_it_ended() -> None:
    assert finishes(b'{"finish_reason": "stop"}') and finishes(b'{"type":"response.completed"}')
    assert not finishes(b'{"finish_reason": null, "x": "\\"finish_reason\\": \\"stop\\""}')


def test_what_the_policy_takes_for_a_failure_is_never_ordinary(shipped: Policy) -> None:
    envelopes = shipped.envelopes

    @given(document=st.dictionaries(WORDS, VALUES, max_size=4), carries=st.sampled_from(("choices", "data")))
    def never(document: dict[str, Any], carries: str) -> None:
        answer = {carries: [{}], **document}
        failed = envelopes.fails(answer) or envelopes.finish(answer) is not None
        assert not (failed and ordinary(json.dumps(answer).encode(), envelopes))

    never()


def test_a_key_may_be_spelt_in_escapes(shipped: Policy) -> None:
    assert not ordinary(b'{"choices":[{"delta":{}}],"\\u0065rror":{"message":"no balance"}}', shipped.envelopes)
