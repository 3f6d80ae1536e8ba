"""Real SDKs, and requests that look like agents, are told of one failure in the way each acts on best."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest

from tests.faults.upstream import Answer, Upstream, delta, error, sse

from .gateway import RULES, Gateway, config, gateway

PLAIN: Any = [{"role": "user", "content": "hi"}]
CLAUDE_CODE = {"user-agent": "claude-cli/2.1.272 (external, cli)", "x-app": "cli"}
CODEX = {"user-agent": "codex_cli_rs/0.130.0 (Linux; x86_64)", "originator": "codex_cli_rs"}
ANSWERED = {"type": "message", "role": "assistant", "content": [], "id": "m", "model": "m", "usage": {}}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as made:
        yield made


@pytest.fixture
def served(tmp_path: Path, upstream: Upstream) -> Iterator[Gateway]:
    """`gpt` and `claude`, each with one target, under the shipped clients and one that is the operator's."""
    rows = [
        {"id": "gpt", "provider": "gpt", "wire": "openai", "base_url": upstream.url},
        {"id": "claude", "provider": "claude", "wire": "anthropic", "base_url": upstream.url},
    ]
    combos = {row["id"]: [{"connection": row["id"], "model": "m"}] for row in rows}
    with gateway(tmp_path, config(rows, combos, rules=[str(RULES / "clients.yaml")])) as made:
        yield made


def limit(wait: int, status: int = 429, **more: str) -> Answer:
    """A rate limit that lasts so many seconds."""
    said = {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded", **more}
    headers = {"content-type": "application/json", "retry-after": str(wait)}
    return Answer(status, json.dumps({"type": "error", "error": said}).encode(), headers)


def ask(served: Gateway, agent: dict[str, str], model: str = "claude") -> httpx.Response:
    path = "/v1/messages" if model == "claude" else "/v1/chat/completions"
    return served.client.post(path, json={"model": model, "max_tokens": 9, "messages": PLAIN}, headers=agent)


def test_any_other_client_is_told_what_it_was_before_there_were_clients(served: Gateway, upstream: Upstream) -> None:
    upstream.script(limit(3600))
    answer = ask(served, {})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3600")
    assert not {"x-faultwise-told-by", "x-faultwise-status", "x-faultwise-retry-after"} & set(answer.headers)
    assert answer.json()["error"] == {"type": "rate_limit_error", "message": "slow down"}
    assert set(answer.json()["diagnostics"]) == {"pool_size", "attempted", "attempts", "excluded", "terminal_reason"}


def test_claude_code_is_told_a_wait_it_accepts_and_the_true_one(served: Gateway, upstream: Upstream) -> None:
    upstream.script(limit(3600))
    answer = ask(served, CLAUDE_CODE)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "60")
    assert answer.headers["x-faultwise-retry-after"] == "3600"
    assert answer.headers["x-faultwise-told-by"] == "claude-code-long-wait"
    body = answer.json()
    assert body["error"]["message"] == "slow down (this ends in 1h)"
    assert body["recovery_hint"]["retry_after_seconds"] == 3600
    told = {"client": "claude-code", "told_by": "claude-code-long-wait", "status": 429, "retry_after_seconds": 3600}
    assert told.items() <= body["diagnostics"].items()
    assert body["diagnostics"]["attempts"][0]["status"] == 429


def test_claude_code_keeps_its_login_when_the_gateways_account_is_refused(served: Gateway, upstream: Upstream) -> None:
    upstream.script(error(401, "invalid x-api-key", type="authentication_error"))
    answer = ask(served, CLAUDE_CODE)
    assert (answer.status_code, answer.headers["x-faultwise-reason"]) == (424, "auth_error")
    true = answer.headers["x-faultwise-status"]
    assert true in ("401", "403")
    assert answer.json()["error"]["type"] == "api_error"
    assert answer.json()["error"]["message"].startswith("invalid x-api-key (")
    assert answer.json()["diagnostics"]["status"] == int(true)


def test_codex_is_told_a_short_limit_as_what_it_tries_again(served: Gateway, upstream: Upstream) -> None:
    upstream.script(limit(7))
    answer = ask(served, CODEX, "gpt")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert answer.headers["x-faultwise-status"] == "429"
    assert answer.json()["error"]["code"] == "rate_limit_exceeded"
    assert answer.json()["diagnostics"]["status"] == 429


def test_codex_never_sees_a_code_that_ends_its_turn(served: Gateway, upstream: Upstream) -> None:
    upstream.script(error(503, "overloaded", code="server_is_overloaded"))
    answer = ask(served, CODEX, "gpt")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "server_error")


def test_a_stream_that_breaks_ends_in_the_clients_words(served: Gateway, upstream: Upstream) -> None:
    broken = {"error": {"message": "overloaded", "code": "server_is_overloaded", "type": "server_error"}}
    for agent, code in ((CODEX, "server_error"), ({}, "server_is_overloaded")):
        upstream.script(sse(delta("a"), broken))
        served.clock.ahead += 3600
        text = ask(served, agent, "gpt").text
        (last,) = [json.loads(line[6:]) for line in text.splitlines() if line.startswith('data: {"error"')]
        assert last["error"]["code"] == code


def test_the_openai_sdk_does_not_ask_again_at_once(served: Gateway, upstream: Upstream) -> None:
    upstream.script(limit(90))
    with (
        openai.OpenAI(base_url=f"{served.url}/v1", api_key="mine", max_retries=2) as sdk,
        pytest.raises(openai.RateLimitError) as failed,
    ):
        sdk.chat.completions.create(model="gpt", messages=PLAIN)
    assert failed.value.response.headers["x-faultwise-told-by"] == "openai-sdk-long-wait"
    assert failed.value.response.headers["retry-after"] == "90"
    assert failed.value.response.request.headers["x-stainless-retry-count"] == "0"


def test_the_anthropic_sdk_does_not_sleep_for_hours(served: Gateway, upstream: Upstream) -> None:
    upstream.script(limit(7200))
    with (
        anthropic.Anthropic(base_url=served.url, api_key="mine", max_retries=2) as sdk,
        pytest.raises(anthropic.RateLimitError) as failed,
    ):
        sdk.messages.create(model="claude", max_tokens=9, messages=PLAIN)
    assert failed.value.response.headers["retry-after"] == "7200"
    assert failed.value.response.request.headers["x-stainless-retry-count"] == "0"


def test_the_anthropic_sdk_waits_for_what_is_short(served: Gateway, upstream: Upstream) -> None:
    good = Answer(body=json.dumps(ANSWERED).encode())
    upstream.script(error(500, "oops", {"retry-after": "1"}), good)
    with anthropic.Anthropic(base_url=served.url, api_key="mine", max_retries=2) as sdk:
        answer = sdk.messages.with_raw_response.create(model="claude", max_tokens=9, messages=PLAIN)
    assert answer.status_code == 200
    assert answer.retries_taken >= 1


def test_a_request_the_gateway_refuses_is_told_by_the_same_rules(tmp_path: Path, upstream: Upstream) -> None:
    own = tmp_path / "own.yaml"
    restate = "{id: own-refused, from: 400, to: 422, code: own}"
    own.write_text(f"faultwise: 1\nkind: clients\nclients:\n  - {{id: own, any: [own/], restatements: [{restate}]}}\n")
    rows = [{"id": "gpt", "provider": "gpt", "wire": "openai", "base_url": upstream.url}]
    with gateway(tmp_path, config(rows, rules=[str(own)])) as made:
        answer = made.client.post("/v1/chat/completions", json={}, headers={"user-agent": "own/1"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "own")
        assert answer.json()["diagnostics"]["terminal_reason"] == "model_missing"
        assert answer.headers["x-faultwise-status"] == "400"
        other = made.client.post("/v1/chat/completions", json={})
        assert (other.status_code, "diagnostics" in other.json()) == (400, False)
