"""The door: which paths go straight to the proxy."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect
from faultwise.server.app import create_app
from faultwise.server.cell import cell
from faultwise.server.front import Front
from faultwise.server.settings import settings
from tests.faults.upstream import Upstream, ok

from .gateway import CATALOGUE, MEMO, config, gateway


def passed_on(method: str, path: str) -> bool:
    """Whether a request goes through the application."""
    made = settings(None, environ={"FAULTWISE_STATE": "memory://"})
    held = cell(load(collect(CATALOGUE, shipped=False), MEMO), made, "")
    front, seen = Front(create_app(held, token="t"), held), []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["path"])

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        return None

    front._app = application  # type: ignore[assignment]
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}
    asyncio.run(front(scope, receive, send))  # type: ignore[arg-type]
    return bool(seen)


@pytest.mark.parametrize(
    ("method", "path", "through"),
    [
        ("POST", "/v1/chat/completions", False),
        ("POST", "/v1/audio/speech", False),
        ("POST", "/v1/audio/transcriptions", False),
        ("POST", "/v1beta/models/g-1:generateContent", False),
        ("POST", "/v1beta/models/acme/g-1:streamGenerateContent", False),
        ("POST", "/v1/audio/a/b", True),
        ("POST", "/v1/nothing", True),
        ("POST", "/api/classify", True),
        ("GET", "/v1/audio/speech", True),
        ("GET", "/v1/models", True),
    ],
)
def test_every_proxied_path_goes_straight_to_the_proxy(method: str, path: str, through: bool) -> None:
    assert passed_on(method, path) is through


def test_what_goes_straight_is_answered_as_ever(tmp_path: Path) -> None:
    with Upstream(ok()) as a:
        rows = [
            {"id": "a", "base_url": a.url},
            {"id": "g", "base_url": a.url, "wire": "gemini"},
        ]
        combos = {"coding": [{"connection": "a", "model": "m"}, {"connection": "g", "model": "g-1"}]}
        with gateway(tmp_path, config(rows, combos)) as made:
            assert made.chat(path="/v1/audio/speech").status_code == 200
            assert made.client.post("/v1beta/models/coding:generateContent", json={}).status_code == 200
            assert [one.path for one in a.requests] == ["/v1/audio/speech", "/v1beta/models/g-1:generateContent"]
            assert made.client.get("/v1/audio/speech").status_code == 405
