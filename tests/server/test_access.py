"""Who may come in."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.faults.upstream import Upstream, ok

from .gateway import Gateway, config, gateway


def key(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "hash": f"sha256:{sha256(name.encode()).hexdigest()}", **more}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(ok()) as made:
        yield made


@pytest.fixture
def keyed(tmp_path: Path, upstream: Upstream) -> Iterator[Gateway]:
    rows = [{"id": "a", "base_url": upstream.url, "models": ["m"]}, {"id": "b", "base_url": upstream.url}]
    combos = {"one": [{"connection": "a", "model": "m"}], "two": [{"connection": "b", "model": "m"}]}
    keys = [
        key("plain"),
        key("classifier", scopes=["classify"]),
        key("combo", allowed_combos=["one"]),
        key("account", allowed_connections=["a"]),
        key("nothing", allowed_connections=[]),
    ]
    with gateway(tmp_path, config(rows, combos, keys=keys), token="admin-token") as made:
        yield made


def ask(made: Gateway, presented: str, model: str = "one", header: str = "authorization") -> int:
    value = f"Bearer {presented}" if header == "authorization" else presented
    body = {"model": model, "messages": []}
    return made.client.post("/v1/chat/completions", json=body, headers={header: value}).status_code


def test_without_a_key_nothing_is_served(keyed: Gateway, upstream: Upstream) -> None:
    answer = keyed.chat("one")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "invalid_api_key"
    assert ask(keyed, "wrong") == 401
    assert keyed.client.get("/v1/models").status_code == 401
    assert upstream.requests == []


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "x-goog-api-key", "api-key"])
def test_a_key_is_taken_where_each_sdk_puts_it(keyed: Gateway, header: str) -> None:
    assert ask(keyed, "plain", header=header) == 200


def test_the_clients_key_does_not_reach_the_upstream(keyed: Gateway, upstream: Upstream) -> None:
    ask(keyed, "plain", header="x-api-key")
    assert "plain" not in str(upstream.requests[0].headers)


def test_a_key_without_the_scope_is_refused(keyed: Gateway) -> None:
    assert ask(keyed, "classifier") == 403


def test_a_key_may_use_only_what_it_is_allowed(keyed: Gateway) -> None:
    assert [ask(keyed, "combo", model) for model in ("one", "two", "a/m", "acme/m")] == [200, 404, 404, 404]
    assert [ask(keyed, "account", model) for model in ("one", "two", "a/m", "acme/m")] == [200, 404, 200, 200]
    assert ask(keyed, "nothing") == 404


def test_models_are_those_the_key_may_use(keyed: Gateway) -> None:
    def listed(presented: str) -> list[str]:
        answer = keyed.client.get("/v1/models", headers={"authorization": f"Bearer {presented}"})
        return [one["id"] for one in answer.json()["data"]]

    assert listed("plain") == ["one", "two", "a/m"]
    assert listed("combo") == ["one"]


def test_classify_needs_its_scope(keyed: Gateway) -> None:
    failure = {"provider": "acme", "status": 500}
    for presented, status in (("plain", 403), ("wrong", 401), ("classifier", 200)):
        answer = keyed.client.post("/api/classify", json=failure, headers={"authorization": f"Bearer {presented}"})
        assert answer.status_code == status


def test_management_needs_the_admin_token(keyed: Gateway) -> None:
    for path in ("/api/policy", "/api/monitoring/health", "/api/resilience/model-cooldowns"):
        assert keyed.client.get(path).status_code == 401
        assert keyed.client.get(path, headers={"authorization": "Bearer plain"}).status_code == 401
        assert keyed.client.get(path, headers={"authorization": "Bearer admin-token"}).status_code == 200
    assert keyed.client.post("/api/policy/reload").status_code == 401


def test_probes_are_open(keyed: Gateway) -> None:
    assert keyed.client.get("/healthz").status_code == keyed.client.get("/readyz").status_code == 200


def test_without_a_token_management_is_for_this_machine_and_no_web_page(tmp_path: Path, upstream: Upstream) -> None:
    with gateway(tmp_path, config([{"id": "a", "base_url": upstream.url}])) as made:
        assert made.client.get("/api/policy").status_code == 200
        assert made.client.get("/api/policy", headers={"host": "evil.example"}).status_code == 403
        assert made.client.get("/api/policy", headers={"origin": "https://evil.example"}).status_code == 403
        assert made.client.get("/api/policy", headers={"origin": "http://localhost:1"}).status_code == 200


def test_a_page_of_another_site_cannot_spend_the_accounts_of_an_open_server(tmp_path: Path, upstream: Upstream) -> None:
    with gateway(tmp_path, config([{"id": "a", "base_url": upstream.url}])) as made:
        answer = made.client.post("/v1/chat/completions", content=b"{}", headers={"origin": "https://evil.example"})
        assert answer.status_code == 403
        assert upstream.requests == []
