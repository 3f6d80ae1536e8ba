"""The short cut gives the account that the walk gives, or none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultwise.engine.failure.account import Account, Layer, take_apart
from faultwise.engine.failure.envelope import Envelopes
from faultwise.engine.failure.plain import plain
from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect

ENVELOPES: Envelopes = load(collect(shipped=False)).envelopes
KEYS = (
    *("error", "message", "code", "type", "status", "param", "detail", "details", "reason", "data", "raw", "cause"),
    *("errors", "title", "msg", "http_code", "upstream_status", "choices", "ThrottlingException", "other"),
)
WORDS = (
    *(
        "",
        " ",
        "null",
        "none",
        "ok",
        "error",
        "Slow down",
        "  Slow down\n",
        "rate_limit_exceeded",
        "429",
        "503 x",
        "a#B",
    ),
    *(
        "com.x#ThrottlingException",
        "RateLimitError",
        "余额不足",
        "a &amp; b",
        "\\u4f59",
        "a\0b",
        "\ud83d",
        "{",
        '"x"',
        "<p>x",
    ),
    *(
        "[503] gone",
        "insufficient_quota: pay",
        "Error from provider (x: 429): slow down",
        "a" * 300,
        '{"message": "in"}',
    ),
)

scalars = st.one_of(
    st.none(), st.booleans(), st.sampled_from((0, 200, 429, 503, 1.5, -1)), st.sampled_from(WORDS), st.text()
)
inner = st.dictionaries(st.sampled_from(KEYS), st.one_of(scalars, st.lists(scalars, max_size=2)), max_size=5)
documents = st.dictionaries(
    st.sampled_from(KEYS), st.one_of(scalars, inner, st.lists(inner, max_size=2), inner.map(lambda one: {"error": one}))
)


def shown(account: Account) -> Any:
    return account._replace(layers=tuple(map(_layer, account.layers)))


def _layer(layer: Layer) -> Any:
    return tuple(getattr(layer, name) for name in Layer.__slots__)


@given(documents)
def test_what_is_found_on_the_short_way_is_what_the_walk_finds(document: dict[str, Any]) -> None:
    short = plain(ENVELOPES, document)
    assert short is None or shown(short) == shown(take_apart(ENVELOPES, document, "", None))


@pytest.mark.parametrize(
    "document",
    [
        {"error": {"message": "Slow down", "type": "requests", "code": None, "param": "model"}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"code": 50505, "message": "用户额度不足", "data": None},
        {"status": 429, "title": "Slow down", "retryable": True, "more": {"of": ["no", "known", "key"]}},
    ],
)
def test_what_comes_every_day_goes_the_short_way(document: dict[str, Any]) -> None:
    assert plain(ENVELOPES, document) is not None


@pytest.mark.parametrize(
    "document",
    [
        {"error": [{"message": "x"}]},
        {"error": {"error": {"message": "x"}}},
        {"error": {"message": json.dumps({"message": "inside"})}},
        {"error": {"message": "litellm.RateLimitError: slow down"}},
        {"error": {"message": "a &lt; b"}},
        {"error": {"message": "\ud83d"}},
        {"error": {"message": "x", "raw": "y"}},
        {"error": {"message": "x", "code": ["a", "b"]}},
        {"ThrottlingException": {"message": "x"}},
        {f"code{number}": "x" for number in range(3)} | {"error": {"message": "x" * 20_000}},
    ],
)
def test_what_has_more_to_it_is_walked(document: dict[str, Any]) -> None:
    assert plain(ENVELOPES, document) is None
