"""Files that change under a running server."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.faults.upstream import Upstream, error, ok

from .gateway import Gateway, config, gateway, until

RULE = """faultwise: 1
kind: provider
provider: acme
rules:
  - id: acme-teapot
    status: [418]
    any: ["short and stout"]
    reason: {reason}
"""
FAILURE = {"provider": "acme", "status": 418, "headers": {}, "body": '{"error": {"message": "short and stout"}}'}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(ok()) as made:
        yield made


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "acme.yaml").write_text(RULE.format(reason="overloaded"))
    return folder


@pytest.fixture
def served(tmp_path: Path, rules: Path, upstream: Upstream) -> Iterator[Gateway]:
    text = config([{"id": "one", "base_url": upstream.url}], rules=["rules"])
    with gateway(tmp_path, text, follow=True) as made:
        yield made


def reason(gateway: Gateway) -> str:
    return str(gateway.client.post("/api/classify", json=FAILURE).json()["reason"])


def generation(gateway: Gateway) -> int:
    return int(gateway.client.get("/api/policy").json()["generation"])


def test_an_edited_rule_serves_without_a_restart(served: Gateway, rules: Path) -> None:
    assert reason(served) == "overloaded"
    (rules / "acme.yaml").write_text(RULE.format(reason="quota_exhausted"))
    until(lambda: reason(served) == "quota_exhausted")
    assert generation(served) == 2


def test_a_file_that_is_renamed_over_another_is_noticed(served: Gateway, rules: Path) -> None:
    new = rules.parent / "acme.yaml.swp"
    new.write_text(RULE.format(reason="server_error"))
    os.replace(new, rules / "acme.yaml")
    until(lambda: reason(served) == "server_error")


def test_a_bad_change_keeps_the_last_good_policy_and_says_what_is_wrong_where(
    served: Gateway, rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "faultwise.policy")
    (rules / "acme.yaml").write_text(RULE.format(reason="no_such_reason"))
    until(lambda: served.client.get("/api/policy").json()["last_error"])
    shown = served.client.get("/api/policy").json()
    (problem,) = shown["last_error"]["problems"]
    assert problem["file"].endswith("acme.yaml") and problem["line"] == 8
    assert shown["desired"]["accepted"] is False
    assert shown["active"]["generation"] == shown["generation"] == 1
    assert reason(served) == "overloaded"
    assert "acme.yaml:8" in served.client.get("/readyz").json()["policy_error"]
    assert any("acme.yaml:8" in record.getMessage() for record in caplog.records)
    (rules / "acme.yaml").write_text(RULE.format(reason="timeout"))
    until(lambda: reason(served) == "timeout")
    assert served.client.get("/api/policy").json()["last_error"] is None
    until(lambda: any("the files are good, generation 2" in record.getMessage() for record in caplog.records))


def test_a_bad_change_that_is_taken_back_is_told_in_the_log(
    served: Gateway, rules: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "faultwise.policy")
    (rules / "acme.yaml").write_text("no: rules\n")
    until(lambda: served.client.get("/api/policy").json()["last_error"])
    (rules / "acme.yaml").write_text(RULE.format(reason="overloaded"))
    until(lambda: any("the files are good, generation 1" in record.getMessage() for record in caplog.records))


def test_a_policy_that_fails_its_own_cases_is_refused(served: Gateway, rules: Path) -> None:
    case = 'cases:\n  - {name: x, status: 418, body: "short and stout", expect: {reason: timeout}}\n'
    (rules / "acme.yaml").write_text(RULE.format(reason="overloaded") + case)
    until(lambda: served.client.get("/api/policy").json()["last_error"])
    assert "FW030" in served.client.get("/api/policy").json()["last_error"]["text"]
    assert generation(served) == 1


def test_the_gateway_file_is_followed_and_locks_of_a_removed_connection_go(served: Gateway, upstream: Upstream) -> None:
    upstream.script(error(429, "slow down", {"retry-after": "60"}))
    served.chat()
    assert len(served.cell.locks) == 1
    with Upstream(ok("other")) as other:
        served.file.write_text(config([{"id": "two", "base_url": other.url}], rules=["rules"]))
        until(lambda: generation(served) == 2)
        assert "other" in served.chat().text
    assert len(served.cell.locks) == 0


def test_a_broken_gateway_file_changes_nothing(served: Gateway) -> None:
    served.file.write_text("faultwise: 1\nkind: gateway\nconnections: [{id: x}]\n")
    until(lambda: served.client.get("/api/policy").json()["last_error"])
    assert served.chat().status_code == 200


def test_a_config_map_swap_is_noticed(tmp_path: Path, upstream: Upstream) -> None:
    """As Kubernetes does it: the files are links into `..data`, itself a link that is replaced."""
    mount = tmp_path / "mount"
    for version, word in (("..one", "overloaded"), ("..two", "timeout")):
        (mount / version).mkdir(parents=True)
        (mount / version / "acme.yaml").write_text(RULE.format(reason=word))
    (mount / "..data").symlink_to("..one")
    (mount / "acme.yaml").symlink_to("..data/acme.yaml")
    text = config([{"id": "one", "base_url": upstream.url}], rules=["mount"])
    with gateway(tmp_path, text, follow=True) as made:
        assert reason(made) == "overloaded"
        (mount / "..new").symlink_to("..two")
        os.replace(mount / "..new", mount / "..data")
        until(lambda: reason(made) == "timeout")


def test_a_directory_that_appears_later_is_read_then(tmp_path: Path, upstream: Upstream) -> None:
    with gateway(tmp_path, config([{"id": "one", "base_url": upstream.url}]), follow=True) as made:
        made.file.write_text(config([{"id": "one", "base_url": upstream.url}], rules=["later/rules"]))
        until(lambda: made.client.get("/api/policy").json()["last_error"])
        folder = tmp_path / "later" / "rules"
        folder.mkdir(parents=True)
        (folder / "acme.yaml").write_text(RULE.format(reason="timeout"))
        until(lambda: reason(made) == "timeout")


def test_a_directory_whose_link_is_moved_is_read_anew(tmp_path: Path, upstream: Upstream) -> None:
    for name, word in (("one", "overloaded"), ("two", "timeout")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "acme.yaml").write_text(RULE.format(reason=word))
    (tmp_path / "rules").symlink_to("one")
    with gateway(tmp_path, config([{"id": "one", "base_url": upstream.url}], rules=["rules"]), follow=True) as made:
        (tmp_path / "new").symlink_to("two")
        os.replace(tmp_path / "new", tmp_path / "rules")
        until(lambda: reason(made) == "timeout")


def test_reload_on_demand_acknowledges_or_refuses(tmp_path: Path, rules: Path, upstream: Upstream) -> None:
    text = config([{"id": "one", "base_url": upstream.url}], rules=["rules"])
    with gateway(tmp_path, text) as made:
        (rules / "acme.yaml").write_text(RULE.format(reason="timeout"))
        answer = made.client.post("/api/policy/reload")
        assert answer.status_code == 200 and answer.json()["generation"] == 2
        assert answer.json()["acks"][0]["generation"] == 2
        (rules / "acme.yaml").write_text("faultwise: 1\nkind: provider\nprovider: acme\nruless: []\n")
        answer = made.client.post("/api/policy/reload")
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["generation"] == 2
        assert answer.json()["problems"][0]["line"] == 4


def test_requests_go_on_while_policies_change(served: Gateway, rules: Path) -> None:
    statuses: list[int] = []
    stop = threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=served.url, timeout=10) as client:
            while not stop.is_set():
                statuses.append(client.post("/v1/chat/completions", json={"model": "coding"}).status_code)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number, word in enumerate(("timeout", "overloaded", "server_error"), 2):
        (rules / "acme.yaml").write_text(RULE.format(reason=word))
        until(lambda expected=number: generation(served) == expected)  # type: ignore[misc]
    stop.set()
    for thread in threads:
        thread.join()
    assert set(statuses) == {200}


def test_a_fault_while_loading_is_a_refusal_and_following_goes_on(
    served: Gateway, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("a fault of ours")

    with monkeypatch.context() as patched:
        patched.setattr("faultwise.server.loading.load", broken)
        answer = served.client.post("/api/policy/reload")
        assert answer.status_code == 422 and "a fault of ours" in answer.json()["problems"][0]["message"]
        assert served.client.get("/api/policy").json()["last_error"]["problems"][0]["code"] == "FW070"
        assert "a fault of ours" in served.client.get("/readyz").json()["policy_error"]
        (rules / "acme.yaml").write_text(RULE.format(reason="overloaded") + "\n")
        until(lambda: served.cell.refusal is not None)
    (rules / "acme.yaml").write_text(RULE.format(reason="quota_exhausted"))
    until(lambda: reason(served) == "quota_exhausted")


def test_following_survives_a_fault_of_its_own(served: Gateway, rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = threading.Event()

    def broken(*_: object) -> None:
        failed.set()
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("faultwise.server.reload.RETRY", 0.01)
    with monkeypatch.context() as patched:
        patched.setattr("faultwise.server.loading.Loader.fingerprint", broken)
        (rules / "acme.yaml").write_text(RULE.format(reason="overloaded") + "\n")
        assert failed.wait(10)
    (rules / "acme.yaml").write_text(RULE.format(reason="quota_exhausted"))
    until(lambda: reason(served) == "quota_exhausted")
