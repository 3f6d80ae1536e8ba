"""The body of a request that is answered in an emergency."""

from __future__ import annotations

import json

import pytest

from faultwise.server.proxy.emergency import bounded
from faultwise.server.proxy.endpoint import ENDPOINTS
from faultwise.server.proxy.request import Call, read

NAMED = {endpoint.name: endpoint for endpoint in ENDPOINTS}


def call(name: str, body: str, path: str = "/v1beta/models/g:generateContent") -> Call:
    return read("id", NAMED[name], path, b"", (), body.encode())


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("chat", '{"model": "m",  "x": 1}', '{"max_tokens":100,"model": "e",  "x": 1}'),
        ("chat", '{"model": "m", "max_tokens": 99}', '{"model": "e", "max_tokens": 99}'),
        ("chat", '{"model": "m", "max_tokens": 101}', '{"model": "e", "max_tokens": 100}'),
        ("chat", '{"model": "m", "max_tokens": null, "tools": []}', '{"model": "e", "max_tokens": 100, "tools": []}'),
        ("chat", '{"max_completion_tokens": 1e9, "model": "ü"}', '{"max_completion_tokens": 100, "model": "e"}'),
        ("chat", '{"max_tokens": 5, "model": "m", "max_tokens": -1}', '{"max_tokens": 5, "model": "e", "max_tokens": 100}'),
        ("responses", '{"model": "m"}', '{"max_output_tokens":100,"model": "e"}'),
        ("messages", '{"model": "m", "max_tokens": 4096}', '{"model": "e", "max_tokens": 100}'),
        ("generate", "{}", '{"generationConfig":{"maxOutputTokens":100}}'),
        (
            "generate",
            '{"generation_config": {"topK": 1, "maxOutputTokens": 999}}',
            '{"generation_config": {"topK": 1, "maxOutputTokens": 100}}',
        ),
        ("generate", '{"generationConfig": null}', '{"generationConfig": {"maxOutputTokens":100}}'),
    ],
)  # fmt: skip
def test_an_answer_is_bounded_and_everything_else_stays_as_it_was_written(name: str, body: str, expected: str) -> None:
    found = bounded(call(name, body), "e", 100)
    assert found is not None and found.decode() == expected
    json.loads(found)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("chat", '{"model": "m", "tools": [{"type": "function"}]}'),
        ("chat", '{"model": "m", "t\\u006fols": [1]}'),
        ("chat", '{"model": "m", "functions": [{"name": "f"}]}'),
        ("chat", '{"model": "m", "tool_choice": "none"}'),
        ("messages", '{"model": "m", "mcp_servers": [{}]}'),
        ("generate", '{"tools": [{"codeExecution": {}}]}'),
        ("generate", "not JSON"),
        ("embeddings", '{"model": "m"}'),
        ("count_tokens", '{"model": "m"}'),
        ("images", '{"model": "m"}'),
    ],
)
def test_what_has_tools_or_makes_no_text_is_for_no_other_model(name: str, body: str) -> None:
    assert bounded(call(name, body), "e", 100) is None


def test_of_geminis_actions_only_those_that_make_text_are_for_another_model() -> None:
    assert bounded(call("generate", "{}", "/v1beta/models/g:streamGenerateContent"), "e", 1) is not None
    assert bounded(call("generate", "{}", "/v1beta/models/g:countTokens"), "e", 1) is None
