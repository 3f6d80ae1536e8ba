"""Where a request goes below an upstream's address."""

from __future__ import annotations

import pytest

from faultwise.server.proxy.endpoint import ENDPOINTS, address, root

BY_NAME = {endpoint.name: endpoint for endpoint in ENDPOINTS}


@pytest.mark.parametrize(
    ("base", "name", "url"),
    [
        ("https://a.example/v1", "chat", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/", "chat", "https://a.example/v1/chat/completions"),
        ("https://a.example", "chat", "https://a.example/v1/chat/completions"),
        ("https://a.example/openai", "embeddings", "https://a.example/openai/v1/embeddings"),
        ("https://a.example/api/paas/v4", "chat", "https://a.example/api/paas/v4/chat/completions"),
        ("https://a.example/v1beta/openai", "chat", "https://a.example/v1beta/openai/chat/completions"),
        ("https://a.example", "messages", "https://a.example/v1/messages"),
        ("https://a.example/v1/", "messages", "https://a.example/v1/messages"),
        ("https://a.example/anthropic", "messages", "https://a.example/anthropic/v1/messages"),
    ],
)
def test_a_version_too_much_or_too_little_is_forgiven(base: str, name: str, url: str) -> None:
    endpoint = BY_NAME[name]
    assert address(root(base, endpoint.wire), endpoint, endpoint.path, "m") == url


@pytest.mark.parametrize("base", ["https://a.example", "https://a.example/v1beta", "https://a.example/v1"])
def test_gemini_has_the_model_in_the_path(base: str) -> None:
    endpoint = BY_NAME["generate"]
    found = address(root(base, "gemini"), endpoint, "/v1beta/models/combo:generateContent", "gemini 2/x")
    assert found == "https://a.example/v1beta/models/gemini%202/x:generateContent"
