"""The log as `gateway.yaml` and the environment set it up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwise.engine.problem import PolicyError
from faultwise.server.settings import settings
from tests.faults.upstream import Upstream, error
from tests.server.gateway import config, gateway, until

HEAD = "faultwise: 1\nkind: gateway\nstate: memory://\n"


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream(error(500, "boom CASE-17")) as made:
        yield made


def test_a_pattern_that_is_no_regex_is_refused_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(HEAD + "log:\n  redact: ['fine', '(']\n")
    with pytest.raises(PolicyError, match="gateway.yaml:5:20: FW061 `\\(` is not a regular expression"):
        settings(file, environ={})


@pytest.mark.parametrize(
    ("name", "text"),
    [("FSYNC", "sometimes"), ("BODIES", "maybe"), ("MAX_SIZE", "big"), ("QUEUE", "0"), ("MAX_AGE", "1")],
)
def test_a_variable_that_cannot_be_read_is_refused(name: str, text: str) -> None:
    with pytest.raises(PolicyError, match=f"FAULTWISE_LOG__{name}"):
        settings(None, environ={f"FAULTWISE_LOG__{name}": text})


def test_the_environment_turns_bodies_off_and_names_the_file(tmp_path: Path, upstream: Upstream) -> None:
    environ = {"FAULTWISE_LOG__BODIES": "false", "FAULTWISE_LOG__FILE": str(tmp_path / "elsewhere" / "log.jsonl")}
    with gateway(tmp_path, config([{"id": "a", "base_url": upstream.url}]), environ=environ) as made:
        made.chat()
    first, _ = map(json.loads, (tmp_path / "elsewhere" / "log.jsonl").read_bytes().splitlines())
    assert first["body"] == "" and first["verdict"]["reason"] == "server_error"


def test_a_reload_moves_the_log_and_changes_what_is_taken_out(tmp_path: Path, upstream: Upstream) -> None:
    rows = [{"id": "a", "base_url": upstream.url, "disable_cooling": True}]
    with gateway(tmp_path, config(rows, log={"file": "one.jsonl"})) as made:
        made.chat()
        until(lambda: (tmp_path / "one.jsonl").exists())
        made.file.write_text(config(rows, log={"file": "two.jsonl", "redact": [r"CASE-\d+"]}), encoding="utf-8")
        assert made.client.post("/api/policy/reload").status_code == 200
        made.chat()
    assert "CASE-17" in (tmp_path / "one.jsonl").read_text()
    assert "boom [redacted]" in (tmp_path / "two.jsonl").read_text()
