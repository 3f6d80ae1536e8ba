"""What helps whoever is in front of it: hints in errors, reasons of what is closed, lines of the log, the root path."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.upstream import Upstream, error, ok

from .gateway import Gateway, config, gateway

TOKEN = "t0ken"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(ok()) as made:
        yield made


@pytest.fixture
def served(tmp_path: Path, upstream: Upstream) -> Iterator[Gateway]:
    with gateway(tmp_path, config([{"id": "relay-1", "base_url": upstream.url}]), token=TOKEN) as made:
        yield made


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("codng", "coding"), ("acmee/m", "acme/m"), ("relay1/gpt-5", "relay-1/gpt-5"), ("something else", None)],
)
def test_a_model_nobody_knows_is_answered_with_the_nearest_name(served: Gateway, asked: str, meant: str | None) -> None:
    answer = served.chat(asked)
    assert answer.status_code == 404
    message = answer.json()["error"]["message"]
    assert message.endswith(f"; did you mean `{meant}`?") if meant else "did you mean" not in message


def test_a_name_that_the_key_may_not_use_is_not_suggested(tmp_path: Path, upstream: Upstream) -> None:
    keys = [{"id": "k", "hash": f"sha256:{hashlib.sha256(b'key').hexdigest()}", "allowed_combos": ["other"]}]
    rows = [{"id": "relay-1", "base_url": upstream.url}]
    target = [{"connection": "relay-1", "model": "m"}]
    with gateway(tmp_path, config(rows, {"coding": target, "other": target}, keys=keys)) as made:
        made.client.headers["authorization"] = "Bearer key"
        for asked in ("codng", "acmee/m", "relay-2/m"):
            assert "did you mean" not in made.chat(asked).json()["error"]["message"]
        assert "`other`" in made.chat("othr").json()["error"]["message"]


def test_the_connection_is_named_to_the_operator_and_to_nobody_else(served: Gateway, upstream: Upstream) -> None:
    path, body = "/v1/chat/completions", {"model": "coding", "messages": []}
    shown = served.client.post(path, json=body, headers={"x-faultwise-admin-token": TOKEN})
    assert shown.headers["x-faultwise-connection"] == "relay-1" and shown.headers["x-faultwise-target"] == "acme/m"
    for headers in ({}, {"x-faultwise-admin-token": "wrong"}, {"x-faultwise-admin-token": ""}):
        assert "x-faultwise-connection" not in served.client.post(path, json=body, headers=headers).headers
    assert all(b"admin-token" not in name.lower() for one in upstream.requests for name in _names(one))
    upstream.script(error(429, "slow down", {"retry-after": "60"}))
    failed = served.client.post(path, json=body, headers={"x-faultwise-admin-token": TOKEN})
    assert failed.status_code == 429 and failed.headers["x-faultwise-connection"] == "relay-1"


def _names(received: Any) -> list[bytes]:
    return [str(name).encode() for name in dict(received.headers)]


def test_a_target_that_is_closed_is_told_with_what_closed_it(served: Gateway, upstream: Upstream) -> None:
    upstream.script(error(429, "slow down", {"retry-after": "60"}))
    served.chat()
    (excluded,) = served.chat().json()["diagnostics"]["excluded"]
    assert excluded["reason"] == "connection_cooldown"
    assert excluded["because"]["reason"] == "rate_limit_exceeded" and excluded["because"]["rule"]


def test_each_failed_attempt_leaves_one_line_and_a_success_none(
    served: Gateway, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "faultwise.attempt")

    def lines() -> list[str]:
        return [one.getMessage() for one in caplog.records if one.name == "faultwise.attempt"]

    served.chat()
    assert lines() == []
    upstream.script(error(429, "slow down", {"retry-after": "60"}))
    id = served.chat().headers["x-faultwise-request-id"]
    (line,) = lines()
    assert line.startswith(f'attempt request={id} attempt=1 provider=acme model="m" status=429 upstream_status=429 ')
    assert " reason=rate_limit_exceeded scope=connection cooldown_s=60.0 rule=" in line and "slow down" not in line


def test_the_root_says_what_this_is_and_where_to_look(served: Gateway) -> None:
    answer = served.client.get("/")
    assert answer.status_code == 200
    told = answer.json()
    assert told["name"] == "faultwise" and told["version"]
    for path in told["paths"].values():
        assert served.client.get(path, headers={"authorization": f"Bearer {TOKEN}"}).status_code in (200, 404), path
    assert served.client.get(told["paths"]["health"]).status_code == 200


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/chat/completions", "did you mean `/v1/chat/completions`?"),
        ("/v1/v1/chat/completions", "did you mean `/v1/chat/completions`?"),
        ("/v1/message", "did you mean `/v1/messages`?"),
        ("/nowhere", "`GET /` says where to look"),
    ],
)
def test_a_path_that_does_not_exist_is_answered_with_the_nearest(served: Gateway, path: str, hint: str) -> None:
    answer = served.client.post(path, json={"model": "coding"})
    assert answer.status_code == 404
    assert answer.json()["detail"] == f"there is nothing at `{path}`; {hint}"


def test_a_method_that_a_path_does_not_take_is_said(served: Gateway) -> None:
    answer = served.client.get("/v1/chat/completions")
    assert answer.status_code == 405
    assert answer.json()["detail"] == "`/v1/chat/completions` takes POST, not GET"


def test_a_short_credential_is_masked_and_leaves_the_letters_of_other_words(tmp_path: Path) -> None:
    with Upstream(error(400, "the key k of this kind is unknown")) as upstream:
        rows = [{"id": "local", "base_url": upstream.url, "secret": "k"}]
        with gateway(tmp_path, config(rows)) as made:
            assert "the key *** of this kind is unknown" in made.chat().json()["error"]["message"]
