"""Failures that upstreams deliver as if they were answers, and requests that are not what they seem."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.upstream import DONE, Answer, Upstream, delta, event, ok

from .gateway import Gateway, config, gateway

QUOTA = b'{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}'
EVENT = b"data: " + QUOTA + b"\n\n"
PAGE = b"<!doctype html><html><head><title>502 Bad gateway</title></head></html>"


@pytest.fixture
def pair(tmp_path: Path, a: Upstream, b: Upstream) -> Iterator[Gateway]:
    rows = [
        {"id": "relay", "provider": "agentrouter", "base_url": a.url},
        {"id": "main", "provider": "openai", "base_url": b.url},
        {"id": "gem", "provider": "gemini", "wire": "gemini", "base_url": b.url},
    ]
    targets = [{"connection": "relay", "model": "m"}, {"connection": "main", "model": "n"}]
    combos = {"coding": targets, "alone": targets[:1]}
    with gateway(tmp_path, config(rows, combos)) as made:
        yield made


def sent(body: bytes, kind: str | None = "application/json", status: int = 200, **headers: str) -> Answer:
    named = {} if kind is None else {"content-type": kind}
    return Answer(status, body, named | {name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize(
    "masked",
    [
        sent(EVENT, "Text/Event-Stream"),
        sent(EVENT, "application/octet-stream"),
        sent(EVENT),
        sent(b"event: error\ndata: {}\n\n", "text/plain"),
        sent(QUOTA, "application/octet-stream"),
        sent(QUOTA, "image/png"),
        sent(QUOTA, "text/plain"),
        sent(QUOTA, None),
        sent(PAGE),
        sent(b"<Error><Code>Throttling</Code></Error>", "application/xml"),
        sent(b"upstream connect error", "text/plain"),
        sent(QUOTA.replace(b"quota", b"quota" + b"x" * 70_000, 1)),
        sent(b"moved", "text/html", 302, location="http://elsewhere.example/"),
        sent(b"", None, 307, location="http://elsewhere.example/"),
        sent(b"", None, 204),
        sent(b"", "image/png"),
        sent(gzip.compress(event(delta("hi")) + DONE, mtime=0), "text/event-stream", content_encoding="gzip"),
    ],
    ids=lambda answer: f"{answer.status} {answer.headers.get('content-type')} {bytes(answer.body)[:12]!r}",
)
def test_a_failure_is_not_delivered_whatever_it_is_called(pair: Gateway, a: Upstream, masked: Answer) -> None:
    a.answers[:] = [masked]
    answer = pair.chat()
    assert answer.status_code == 200 and answer.headers["x-faultwise-target"] == "openai/n"
    alone = pair.chat("alone")
    assert alone.status_code >= 400 and "location" not in alone.headers


def test_a_stream_called_json_is_passed_on_as_the_stream_it_is(pair: Gateway, a: Upstream) -> None:
    body = event(delta("hi")) + event(delta(None, "stop")) + DONE
    a.answers[:] = [sent(body)]
    answer = pair.chat(stream=True)
    assert answer.content == body and answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["x-faultwise-target"] == "agentrouter/m"


def test_a_long_answer_with_an_empty_error_is_an_answer(pair: Gateway, a: Upstream) -> None:
    a.answers[:] = [ok("x" * 200_000, error=None)]
    assert pair.chat().headers["x-faultwise-target"] == "agentrouter/m"


def test_headers_that_quote_the_credential_are_kept_back(pair: Gateway, a: Upstream) -> None:
    good = ok()
    a.answers[:] = [Answer(body=good.body, headers={**good.headers, "x-echo": "Bearer s3cr3t-relay", "x-fine": "1"})]
    answer = pair.chat()
    assert "s3cr3t" not in str(answer.headers) and answer.headers["x-fine"] == "1"


def test_half_a_surrogate_pair_is_no_name(pair: Gateway) -> None:
    body = b'{"model":"relay/x\\ud800y","messages":[]}'
    answer = pair.client.post("/v1/chat/completions", content=body)
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "model_unreadable"
    row = {"provider": "acme", "connection": "c\ud800", "model": "m", "status": 404, "body": "no such model \ud800"}
    assert pair.client.post("/api/report", content=json.dumps(row)).status_code == 200
    assert pair.client.post("/api/classify", content=json.dumps({**row, "id": "\udc00"})).status_code == 200
    assert pair.client.get("/api/monitoring/health").status_code == 200


def test_oversized_headers_are_refused_before_anybody_is_asked(pair: Gateway, a: Upstream, b: Upstream) -> None:
    answer = pair.client.post(
        "/v1/chat/completions", json={"model": "coding"}, headers={f"x-{number}": "v" * 4000 for number in range(9)}
    )
    assert answer.status_code == 431 and answer.json()["error"]["code"] == "headers_too_large"
    assert not a.requests and not b.requests


def test_an_upstream_that_takes_fewer_headers_is_not_blamed(pair: Gateway, a: Upstream) -> None:
    a.answers[:] = [sent(b"", None, 431)]
    assert pair.chat().headers["x-faultwise-target"] == "openai/n"
    assert not pair.cell.locks.active(pair.clock())


@pytest.mark.parametrize("name", ["origin", "host"])
def test_an_address_that_is_none_opens_nothing(pair: Gateway, name: str) -> None:
    headers = {name: "http://[" if name == "origin" else "["}
    assert pair.client.get("/api/policy", headers=headers).status_code == 403
    if name == "origin":
        assert pair.client.post("/v1/chat/completions", json={"model": "coding"}, headers=headers).status_code == 403


def test_the_clients_key_is_left_out_however_its_name_is_written(pair: Gateway, a: Upstream) -> None:
    pair.client.post("/v1/chat/completions?%6bey=abc&key=def&k%65y=ghi&x=1", json={"model": "coding"})
    assert a.requests[0].path.endswith("/chat/completions?x=1")


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/models/gem/..%2f..%2fx:generateContent",
        "/v1beta/models/gem/./x:generateContent",
        "/v1beta/models/gem/%2e%2e:generateContent",
        "/v1/audio/speech%3Fx=1",
        "/v1/audio/%2e%2e",
        "/v1/audio/..%2fadmin",
    ],
)
def test_a_path_leads_nowhere_else(pair: Gateway, a: Upstream, b: Upstream, path: str) -> None:
    host, port = pair.url.removeprefix("http://").split(":")
    body = b'{"model":"coding"}'
    with socket.create_connection((host, int(port)), timeout=10) as line:  # a client library would tidy the path up
        line.sendall(
            f"POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = line.recv(64)
    assert head.split()[1] in (b"400", b"404")
    assert not a.requests and not b.requests


def test_a_model_in_a_path_keeps_what_separates_a_url_to_itself(pair: Gateway, b: Upstream) -> None:
    pair.client.post("/v1beta/models/gem/x%3Fy%23z%25w:generateContent", json={})
    assert b.requests[0].path == "/v1beta/models/x%3Fy%23z%25w:generateContent"


def test_a_status_that_is_none_fails_at_once(tmp_path: Path, b: Upstream) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        rows: list[dict[str, Any]] = [
            {"id": "odd", "provider": "acme", "base_url": f"http://127.0.0.1:{listener.getsockname()[1]}"},
            {"id": "main", "provider": "openai", "base_url": b.url},
        ]
        combos = {"coding": [{"connection": row["id"], "model": "m"} for row in rows]}
        with gateway(tmp_path, config(rows, combos, deadlines={"first_byte": "60s"})) as served:

            def serve() -> None:
                line, _ = listener.accept()
                with line:
                    line.recv(65536)
                    line.sendall(b"HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n")
                    line.recv(1)

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            assert served.chat().headers["x-faultwise-target"] == "openai/m"
            thread.join(10)
