"""The gateway file: what it comes to, and what is wrong with it, with its place."""

from __future__ import annotations

import json
import logging
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.problem import PolicyError
from faultwise.server.gateway import Deadlines
from faultwise.server.secret import Secret
from faultwise.server.settings import Settings, is_loopback, settings

HEAD = "faultwise: 1\nkind: gateway\n"
ONE = "connections:\n  - {id: one, provider: acme, base_url: 'https://a.example/v1'}\n"


def read(folder: Path, text: str, environ: dict[str, str] | None = None, **more: Any) -> Settings:
    file = folder / "gateway.yaml"
    file.write_text(HEAD + text)
    return settings(file, environ=environ or {}, **more)


def problems(folder: Path, text: str, environ: dict[str, str] | None = None, **more: Any) -> list[str]:
    with pytest.raises(PolicyError) as refused:
        read(folder, text, environ, **more)
    return [str(one).splitlines()[0].removeprefix(f"{folder}/") for one in refused.value.problems]


def test_nothing_but_the_head_is_enough(tmp_path: Path) -> None:
    made = read(tmp_path, "")
    assert made.address == ("127.0.0.1", 4290)
    assert made.deadlines == Deadlines(5, 60, 60, 60, 600)
    assert made.connections == {} and made.combos == {}


def test_no_file_at_all_is_the_defaults() -> None:
    assert settings(None, environ={}).address == ("127.0.0.1", 4290)


def test_default_gives_way_to_file_to_environment_to_command_line(tmp_path: Path) -> None:
    text = "deadlines: {total: 10s, idle: 11s, connect: 12s}\n"
    environ = {
        "FAULTWISE_DEADLINES__TOTAL": "20s",
        "FAULTWISE_DEADLINES__IDLE": "1m",
        "FAULTWISE_LISTEN": "127.0.0.1:1",
    }
    made = read(tmp_path, text, environ, overrides={"deadlines.total": "30s", "listen": "[::1]:99"})
    assert made.deadlines == Deadlines(connect=12, first_byte=60, first_content=60, idle=60, total=30)
    assert made.address == ("::1", 99)
    sources = {name: one.source.removeprefix(f"{tmp_path}/") for name, one in made.values.items()}
    assert sources["state"] == sources["limits.body"] == "default"
    assert {name: source for name, source in sources.items() if source != "default"} == {
        "listen": "command line",
        "deadlines.connect": "gateway.yaml:3",
        "deadlines.idle": "environment FAULTWISE_DEADLINES__IDLE",
        "deadlines.total": "command line",
    }


def test_a_connections_deadline_beats_the_general_one(tmp_path: Path) -> None:
    text = "connections:\n- {id: a, provider: p, base_url: 'http://x', deadlines: {idle: 2s}}\n- {id: b, provider: p, base_url: 'http://x'}\n"
    made = read(tmp_path, text + "deadlines: {idle: 9s, connect: 1s}\n")
    assert made.connections["a"].deadlines == Deadlines(connect=1, idle=2)
    assert made.connections["b"].deadlines == Deadlines(connect=1, idle=9)


def test_variables_and_files_are_put_in(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-file\n")
    text = (
        "connections:\n"
        "  - {id: a, provider: p, base_url: 'https://${HOST}/v1', secret: '${A}'}\n"
        "  - {id: b, provider: p, base_url: http://x, secret: '${file:key}'}\n"
        "  - {id: c, provider: p, base_url: http://x, secret: 'pre-$${A}'}\n"
    )
    made = read(tmp_path, text, {"A": "from-env", "HOST": "a.example"})
    secrets = {name: one.secret.reveal() if one.secret else None for name, one in made.connections.items()}
    assert secrets == {"a": "from-env", "b": "from-file", "c": "pre-${A}"}
    assert made.connections["a"].host == "a.example"
    assert made.files == (tmp_path / "key",)


def test_a_missing_variable_is_named_with_its_place_and_nothing_else(tmp_path: Path) -> None:
    text = "connections:\n  - id: a\n    provider: p\n    base_url: http://x\n    secret: ${PRESENT}${ABSENT}\n"
    assert problems(tmp_path, text, {"PRESENT": "canary"}) == [
        "gateway.yaml:7:23: FW060 the variable `ABSENT` is not set"
    ]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    text = "connections:\n  - {id: a, provider: p, base_url: http://x, secret: '${file:nowhere}'}\n"
    (found,) = problems(tmp_path, text)
    assert "FW060 the file of `${file:nowhere}` cannot be read" in found


def test_secrets_show_as_stars(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "connections:\n  - {id: a, provider: p, base_url: http://x, secret: canary}\n"
    made = read(tmp_path, text)
    logging.getLogger("faultwise").warning("%s %r", made, made.connections["a"].secret)
    assert "canary" not in repr(made) + str(made.connections) + caplog.text
    assert (str(Secret("x")), f"{Secret('x')}", repr([Secret("x")])) == ("***", "***", "[***]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nonsense: 1\n", "gateway.yaml:3:1: FW010 unknown key `nonsense`"),
        (ONE + ONE.removeprefix("connections:\n"), "gateway.yaml:5:10: FW022 duplicate connection `one`"),
        (
            "connections:\n- {id: a, provider: p, base_url: 'ftp://x'}\n",
            "FW062 `base_url` is not an http or https address",
        ),
        (
            ONE + "combos: {c: {targets: [{connection: two, model: m}]}}\n",
            "gateway.yaml:5:37: FW063 combo `c`: unknown connection `two`",
        ),
        (
            ONE + "combos: {c: {targets: [{provider: other, model: m}]}}\n",
            "gateway.yaml:5:35: FW063 combo `c`: no connection has the provider `other`",
        ),
        (ONE + "combos: {c: {targets: [{model: m}]}}\n", "FW063 combo `c`: a target names neither"),
        ("listen: 0.0.0.0:80\n", "FW065 listening on `0.0.0.0` without any `keys` would let everyone in"),
        ("listen: here\n", "gateway.yaml:3:9: FW061 `listen`: `here` is not an address"),
        ("keys: [{id: k, hash: abc}]\n", "gateway.yaml:3:22: FW011 `abc` is not a key hash"),
        (
            ONE
            + f"combos: {{coding: {{targets: [{{connection: one, model: m}}]}}}}\nkeys: [{{id: k, hash: 'sha256:{'0' * 64}', allowed_combos: [codng]}}]\n",
            "FW063 key `k`: unknown combo `codng`",
        ),
        ("limits: {body: 0MiB}\n", "FW061 `limits.body`: `0MiB` is not a size"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    (found,) = problems(tmp_path, text)
    assert expected in found


def test_every_problem_is_told_and_not_the_first_alone(tmp_path: Path) -> None:
    text = ONE + "listen: 0.0.0.0:80\ndeadlines: {total: 0s}\ncombos: {c: {targets: [{connection: x, model: m}]}}\n"
    assert len(problems(tmp_path, text, {"FAULTWISE_LIMITS__BODY": "much"})) == 4


def test_with_keys_any_address_may_be_bound(tmp_path: Path) -> None:
    digest = sha256(b"key").hexdigest()
    made = read(tmp_path, f"listen: 0.0.0.0:80\nkeys: [{{id: k, hash: 'sha256:{digest}', scopes: [inference]}}]\n")
    assert made.keys[0].digest.hex() == digest


def test_what_is_not_acted_on_is_said(tmp_path: Path) -> None:
    made = read(tmp_path, "state: sqlite:///x.db\naffinity: {first_text: true}\nwait: {max_wait: 1s}\n")
    assert [(one.severity, one.message) for one in made.warnings] == [("warning", "`affinity` is not acted on")]


def test_rule_directories_lie_over_each_other_in_order(tmp_path: Path) -> None:
    made = read(tmp_path, "rules: [mine]\n", {"FAULTWISE_RULES": "/b:/c"}, rules=[Path("/d")])
    assert made.rules == (tmp_path / "mine", Path("/b"), Path("/c"), Path("/d"))


def test_loopback_is_this_machine() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.com", "")))


def test_headers_of_a_connection_and_cooling_are_read(tmp_path: Path) -> None:
    row = {"id": "a", "provider": "p", "base_url": "http://x:1/v1", "headers": {"X-Org": "1"}, "disable_cooling": True}
    made = read(tmp_path, f"connections: [{json.dumps(row)}]\n")
    connection = made.connections["a"]
    assert connection.headers == ((b"x-org", b"1"),)
    assert connection.cooling is False
    assert connection.host == "x:1"


@pytest.mark.parametrize("row", ['secret: "a\\nb"', 'headers: {x-one: "a\\r\\nx-two: b"}', 'headers: {"x\\n": b}'])
def test_what_would_break_out_of_a_header_is_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read(tmp_path, f"connections: [{{id: a, provider: p, base_url: 'http://x', {row}}}]\n")
    assert [problem.code for problem in caught.value.problems] == ["FW062"]
