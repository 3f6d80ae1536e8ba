"""The routes that are not proxied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwise.engine.verdict.verdict import Verdict
from tests.faults.upstream import Upstream, error

from .gateway import Gateway, config, gateway

QUOTA = {"id": "q", "provider": "agentrouter", "status": 403, "headers": {}, "body": "额度不足"}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(error(404, "the model `m` does not exist", code="model_not_found")) as made:
        yield made


@pytest.fixture
def served(tmp_path: Path, upstream: Upstream) -> Iterator[Gateway]:
    with gateway(tmp_path, config([{"id": "a", "base_url": upstream.url}])) as made:
        yield made


def test_classify_answers_with_the_verdict_and_the_generation(served: Gateway) -> None:
    answer = served.client.post("/api/classify", json=QUOTA)
    found = answer.json()
    assert list(found) == [*Verdict._fields, "generation"]
    assert (found["id"], found["status"], found["reason"]) == ("q", 429, "quota_exhausted")


def test_a_list_is_answered_one_for_one_with_errors_in_place(served: Gateway) -> None:
    found = served.client.post("/api/classify", json=[QUOTA, {"id": "x"}, 7, {"provider": "p", "status": 500}]).json()
    assert [one.get("reason") for one in found] == ["quota_exhausted", None, None, "server_error"]
    assert found[1]["id"] == "x" and "status" in found[1]["error"]
    assert found[2] == {"id": None, "error": "expected a JSON object"}


def test_explain_gives_the_trace(served: Gateway) -> None:
    found = served.client.post("/api/explain", json=QUOTA).json()
    assert found["id"] == "q" and "agentrouter" in str(found)


@pytest.mark.parametrize(("body", "status"), [(b"no", 400), (b"[" * 100_000, 400), (b'{"id": 1}', 422)])
def test_what_cannot_be_read_is_a_problem_document(served: Gateway, body: bytes, status: int) -> None:
    answer = served.client.post("/api/classify", content=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status and answer.json()["detail"]


def test_a_path_that_does_not_exist_is_a_problem_document(served: Gateway) -> None:
    answer = served.client.get("/nowhere")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert served.client.get("/v1/chat/completions").status_code == 405


def test_policy_shows_settings_and_their_sources_and_no_secret(served: Gateway) -> None:
    answer = served.client.get("/api/policy")
    found = answer.json()
    assert found["generation"] == 1 and found["digest"].startswith("sha256:") and found["files"]
    assert found["settings"]["deadlines.total"] == {"value": 600.0, "source": "default"}
    assert found["settings"]["listen"]["source"].startswith(str(served.file))
    assert "s3cr3t" not in answer.text


def test_model_lockouts_are_listed_and_cleared(served: Gateway, upstream: Upstream) -> None:
    assert served.chat().status_code == 404
    (lock,) = served.client.get("/api/resilience/model-cooldowns").json()
    assert (lock["provider"], lock["connection"], lock["model"]) == ("acme", "a", "m")
    assert lock["expires_at"] > lock["since"] and lock["reason"] == "model_not_found"
    assert served.client.get("/api/monitoring/health").json()["lockouts"] == [lock]
    wanted = {"provider": "acme", "connection": "a", "model": "other"}
    assert served.client.request("DELETE", "/api/resilience/model-cooldowns", json=wanted).json() == {"cleared": []}
    wanted["model"] = "m"
    cleared = served.client.request("DELETE", "/api/resilience/model-cooldowns", json=wanted).json()
    assert cleared == {"cleared": ["acme/a/m"]}
    served.chat()
    assert len(upstream.requests) == 2


def test_ready_turns_to_503_when_going_down(served: Gateway) -> None:
    assert served.client.get("/readyz").status_code == 200
    served.cell.draining = True
    assert served.client.get("/readyz").status_code == 503
    assert served.client.get("/healthz").status_code == 200
