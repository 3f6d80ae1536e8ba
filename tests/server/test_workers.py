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


def test_memory_with_more_than_one_worker_does_not_start(tmp_path: Path) -> None:
    with served(tmp_path, config([{"id": "a", "base_url": "http://x"}]), "--workers", "2") as (_, lines, process):
        process.wait(20)
    assert process.returncode == 1
    assert "`memory://` cannot be shared by 2 workers" in lines.read_text()
