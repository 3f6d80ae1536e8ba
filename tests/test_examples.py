"""Every example runs as it is."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import yaml

from faultwise.server.cli import main
from faultwise.server.loading import Loader

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def here(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of one example, which is the current directory."""
    folder = tmp_path / request.param
    shutil.copytree(EXAMPLES / request.param, folder)
    monkeypatch.chdir(folder)
    return folder


def test_every_example_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    for folder in EXAMPLES.iterdir():
        assert folder.suffix or f"[{folder.name}]({folder.name}/)" in listed


@pytest.mark.parametrize("here", ["quickstart"], indirect=True)
def test_quickstart(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "."]) == 0, capsys.readouterr().err
    assert main(["check", "--strict", "rules"]) == 0
    assert main(["test", "--mutate", "rules"]) == 0
    loaded = Loader(here / "gateway.yaml", {"RELAY_KEY": "a", "OPENAI_API_KEY": "b"}).load()
    assert list(loaded.settings.combos) == ["coding"]
    assert "acme" in loaded.policy.providers


@pytest.mark.parametrize("here", ["custom-rule"], indirect=True)
def test_custom_rule(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--strict", "rules"]) == 0, capsys.readouterr().err
    assert main(["test", "rules"]) == 0


@pytest.mark.parametrize("here", ["embed"], indirect=True)
def test_embed(here: Path) -> None:
    done = subprocess.run([sys.executable, "decide.py"], capture_output=True, text=True, check=False)
    assert done.stdout == "quota_exhausted 429 60 s agentrouter/a\ntry another target\n", done.stderr
    code = [line for line in (here / "decide.py").read_text().splitlines() if line and not line.startswith('"""')]
    assert len(code) <= 15


@pytest.mark.parametrize("here", ["replay"], indirect=True)
def test_replay(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "failures.jsonl", "--rows"]) == 0
    out = capsys.readouterr().out
    assert "line 1 (1)  agentrouter 403  reason auth_error -> quota_exhausted" in out
    assert "5 failures, 1 compared, 1 decided differently" in out
    assert main(["diff", "before", "after", "--log", "failures.jsonl"]) == 1
    assert "5 failures, 5 compared, 2 decided differently" in capsys.readouterr().out
    assert main(["unmatched", "failures.jsonl", "--provider", "acme"]) == 0
    text = capsys.readouterr().out
    assert "daily credit used, <n> of <n> left" in text
    (here / "acme.yaml").write_text(text)
    assert main(["test", "acme.yaml"]) == 0


@pytest.mark.parametrize("here", ["quickstart"], indirect=True)
def test_the_workflow_runs_commands_that_exist(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workflow = yaml.safe_load((EXAMPLES / "ci" / "check-rules.yml").read_text())
    commands = [step.get("run", "") for step in workflow["jobs"]["check"]["steps"]]
    verbs = [line.split()[1:] for line in commands if line.startswith("faultwise ")]
    assert [words[0] for words in verbs] == ["check", "test"]
    for words in verbs:
        assert main(words) == 0, capsys.readouterr().err
    assert "faultwise diff before/rules rules --log failures.jsonl --rows" in commands[-1]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[str]:
    """The decision service of the example, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "faultwise.server.cli", "serve", "--port", str(port)]
    config = ["--config", str(EXAMPLES / "decision-service" / "gateway.yaml")]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen([*command, *config], stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        _await(url, server, tmp_path / "log")
        yield url
    finally:
        server.terminate()
        server.wait(30)


def _await(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urlopen(f"{url}/readyz", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)  # until it listens
    raise AssertionError(log.read_text())


def test_decision_service(service: str) -> None:
    folder = EXAMPLES / "decision-service"
    env = {**os.environ, "FAULTWISE_URL": service, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    done = subprocess.run([sys.executable, folder / "router.py"], capture_output=True, text=True, check=False, env=env)
    assert done.stdout == "close agentrouter/relay-a for 60 s, then try the next target\n", done.stderr
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    done = subprocess.run([folder / "classify.sh"], capture_output=True, text=True, check=False, env=env)
    assert '"reason":"rate_limit_exceeded"' in done.stdout.replace(" ", ""), done.stderr


def test_agents(tmp_path: Path) -> None:
    """With curl; the agents themselves are asked where somebody has installed them."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    with socket.socket() as one, socket.socket() as two, socket.socket() as three:
        for each in (one, two, three):
            each.bind(("127.0.0.1", 0))
        ports = [str(each.getsockname()[1]) for each in (one, two, three)]
    env = {
        **os.environ,
        **dict(zip(("PORT", "RELAY_PORT", "MAIN_PORT"), ports, strict=True)),
        "FAULTWISE": f"{sys.executable} -m faultwise.server.cli",
        "PYTHON": sys.executable,
        "TMPDIR": str(tmp_path),
    }
    script = EXAMPLES / "agent" / "agents.sh"
    done = subprocess.run([script, "curl"], capture_output=True, text=True, check=False, env=env, timeout=180)
    assert done.stdout == "curl: completed; the relay was asked 1 time(s), then the second account\n", done.stderr
    assert done.returncode == 0
