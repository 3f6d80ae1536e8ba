"""`locks`, `reset` and `lock`: of a running server, and of a stopped one's file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from faultwise.engine.state.state import State
from faultwise.engine.store.sqlite import Sqlite
from faultwise.server.cli import main
from faultwise.server.cli.lock import end
from tests.faults.upstream import Upstream, error, ok
from tests.server.gateway import Gateway, config, gateway


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    monkeypatch.setenv("FAULTWISE_ADMIN_TOKEN", "t0ken")
    with Upstream(error(429, "slow down", {"retry-after": "600"}), ok()) as upstream:
        text = config([{"id": "relay", "base_url": upstream.url}])
        with gateway(tmp_path, text, token="t0ken") as made:
            yield made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    state = State(Sqlite(path))
    state.hold("relay", "acme", 4e9, 1000.0)
    assert state.store.flush(10)
    state.store.close()
    return path


def test_locks_of_a_running_server_are_listed_and_opened(served: Gateway, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["locks", "--url", served.url]) == 0
    assert capsys.readouterr().out == "nothing is closed\n"
    served.chat()
    assert main(["locks", "--url", served.url]) == 0
    out = capsys.readouterr().out
    assert "acme/relay" in out and "rate_limit_exceeded" in out and "s)" in out
    assert main(["locks", "--url", served.url, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["connections"][0]["key"] == "acme/relay"
    assert main(["reset", "--url", served.url, "--connection", "relay"]) == 0
    assert capsys.readouterr().out == "acme/relay\n"
    assert served.chat().status_code == 200
    assert main(["reset", "--url", served.url, "--all"]) == 0


def test_a_connection_of_a_running_server_is_closed_by_hand(
    served: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", "connection", "relay", "--until", "2h", "--url", served.url]) == 0
    assert "relay is closed until" in capsys.readouterr().out
    assert served.chat().status_code == 503
    assert main(["locks", "--url", served.url]) == 0
    assert "held" in capsys.readouterr().out
    assert main(["lock", "connection", "nobody", "--url", served.url]) == 2
    assert "no connection `nobody`" in capsys.readouterr().err


def test_a_stopped_servers_file_does_as_well(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["locks", "--file", str(file)]) == 0
    assert "hold:relay" in capsys.readouterr().out
    assert main(["lock", "connection", "other", "--file", str(file)]) == 0
    assert "other is closed until it is reset" in capsys.readouterr().out
    assert main(["reset", "--connection", "relay", "--file", str(file)]) == 0
    assert main(["locks", "--file", str(file), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [one["key"] for one in found["connections"]] == ["hold:other"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["locks", "--file", "nowhere.db"], "no such file"),
        (["locks", "--config", "nowhere.yaml"], "nowhere.yaml: No such file"),
        (["locks", "--url", "http://127.0.0.1:1"], "http://127.0.0.1:1: Connection refused\n    help: is it running?"),
        (["reset"], "name --provider"),
        (["reset", "--all", "--model", "m"], "name --provider"),
        (["lock", "connection", "x", "--until", "whenever"], "`whenever` is not a time"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_the_address_is_that_of_the_gateway_file(
    served: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FAULTWISE_LISTEN", raising=False)
    here = served.url.removeprefix("http://")
    other = tmp_path / "other"
    other.mkdir()
    (other / "gateway.yaml").write_text(f"listen: 0.0.0.0:{here.partition(':')[2]}\n")
    assert main(["locks", "--config", str(other / "gateway.yaml")]) == 0
    monkeypatch.chdir(other)
    assert main(["locks"]) == 0
    assert main(["reset", "--all"]) == 0
    (other / "gateway.yaml").write_text("listen: 127.0.0.1:1\n")
    monkeypatch.setenv("FAULTWISE_LISTEN", here)
    assert main(["locks"]) == 0
    monkeypatch.delenv("FAULTWISE_LISTEN")
    capsys.readouterr()
    assert main(["locks"]) == 2
    assert "http://127.0.0.1:1 (from gateway.yaml): Connection refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("listen", "said"),
    [("${HERE}", "is not an address"), ("127.0.0.1:0", "the port is chosen when the server starts")],
)
def test_an_address_that_a_gateway_file_does_not_give_has_to_be_named(
    listen: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FAULTWISE_LISTEN", raising=False)
    (tmp_path / "gateway.yaml").write_text(f'listen: "{listen}"\n')
    assert main(["locks", "--config", str(tmp_path / "gateway.yaml")]) == 2
    err = capsys.readouterr().err
    assert said in err and "--url" in err


def test_a_damaged_file_is_no_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.db"
    file.write_bytes(b"nonsense" * 1000)
    assert main(["locks", "--file", str(file)]) == 2
    assert "damaged" in capsys.readouterr().err


def test_a_time_of_day_is_the_next_one() -> None:
    now = datetime(2026, 5, 4, 12, 30).timestamp()
    assert datetime.fromtimestamp(end("18:00", now)) == datetime(2026, 5, 4, 18, 0)
    assert datetime.fromtimestamp(end("9:05", now)) == datetime(2026, 5, 5, 9, 5)
    assert end("90s", now) == now + 90
    assert end("2026-01-31T18:00:00Z", now) == 1769882400.0
    for bad in ("25:00", "soon", ""):
        with pytest.raises(ValueError, match="is not a time"):
            end(bad, now)
