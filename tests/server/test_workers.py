"""Several processes behind one socket, and what they share."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.faults.upstream import Upstream, error, ok

from .gateway import CATALOGUE, config, until


@contextmanager
def served(folder: Path, text: str, *more: str) -> Iterator[tuple[str, Path, subprocess.Popen[bytes]]]:
    file, lines = folder / "gateway.yaml", folder / "log"
    file.write_text(text, encoding="utf-8")
    rules = [word for path in CATALOGUE for word in ("--rules", str(path))]
    command = [sys.executable, "-m", "faultwise.server.cli", "serve", "--config", str(file), "--no-shipped", *rules]
    with lines.open("wb") as out, subprocess.Popen([*command, *more], stdout=out, stderr=out) as process:
        try:
            until_slowly(lambda: "listening on" in lines.read_text() or process.poll() is not None)
            found = re.search(r"listening on (\S+)", lines.read_text())
            yield found[1] if found else "", lines, process
        finally:
            process.terminate()
            process.wait(20)


def until_slowly(holds: object) -> None:
    for _ in range(3):
        try:
            return until(holds)  # type: ignore[arg-type]
        except AssertionError:
            pass
    until(holds)  # type: ignore[arg-type]


def pids(lines: Path) -> list[int]:
    return [int(found) for found in re.findall(r"worker started pid=(\d+)", lines.read_text())]


def test_workers_share_what_is_closed_and_are_replaced_when_they_end(tmp_path: Path) -> None:
    with Upstream(error(429, "slow down", {"retry-after": "600"}), ok()) as upstream:
        text = config([{"id": "relay", "base_url": upstream.url}], state="sqlite:///state.db")
        with served(tmp_path, text, "--workers", "2") as (url, lines, process):

            def chat() -> int:
                """On a connection of its own: any worker may get it."""
                asked = {"model": "coding", "messages": []}
                return httpx.post(f"{url}/v1/chat/completions", json=asked, timeout=20, trust_env=False).status_code

            assert chat() == 429
            health = httpx.get(f"{url}/api/monitoring/health", trust_env=False).json()
            assert health["store"]["kind"] == "sqlite"
            until_slowly(lambda: httpx.get(f"{url}/api/monitoring/health", trust_env=False).json()["connections"])
            assert [chat() for _ in range(10)] == [503] * 10
            assert len(upstream.requests) == 1
            first, _ = pids(lines)
            os.kill(first, signal.SIGKILL)
            until_slowly(lambda: len(pids(lines)) == 3)
            assert chat() == 503
            assert len(upstream.requests) == 1
        assert process.returncode == 0
        assert (tmp_path / "state.db").exists()


def test_a_worker_that_cannot_start_ends_nothing_while_another_serves(tmp_path: Path) -> None:
    with Upstream(ok()) as upstream:
        text = config([{"id": "relay", "base_url": upstream.url}], state="sqlite:///state.db")
        with served(tmp_path, text, "--workers", "2") as (url, lines, process):
            until_slowly(lambda: len(serving(lines)) == 2)
            first, second = serving(lines)
            (tmp_path / "gateway.yaml").write_text("nonsense")
            os.kill(first, signal.SIGKILL)
            until_slowly(lambda: "this worker cannot serve" in lines.read_text())
            process.send_signal(signal.SIGHUP)
            until_slowly(lambda: "workers are not renewed" in lines.read_text())
            assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
            (tmp_path / "gateway.yaml").write_text(text)
            until_slowly(lambda: len(serving(lines)) == 3)
            third = serving(lines)[2]
            process.send_signal(signal.SIGHUP)
            until_slowly(lambda: gone(second) and gone(third))
            assert len(serving(lines)) == 5
            assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
        assert process.returncode == 0


def serving(lines: Path) -> list[int]:
    return [int(found) for found in re.findall(r"serving pid=(\d+)", lines.read_text())]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_memory_with_more_than_one_worker_does_not_start(tmp_path: Path) -> None:
    with served(tmp_path, config([{"id": "a", "base_url": "http://x"}]), "--workers", "2") as (_, lines, process):
        process.wait(20)
    assert process.returncode == 1
    assert "`memory://` cannot be shared by 2 workers" in lines.read_text()
