"""The process: it starts with good files only, logs without secrets, and goes down in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.faults.upstream import DONE, Pause, Upstream, delta, ok, sse

from .gateway import CATALOGUE, PATIENCE, config, until

PROGRAM = """
import sys
from pathlib import Path
from faultwise.server.serve import log_to, run
log_to(sys.stderr)
run(Path(sys.argv[1]), rules=[Path(path) for path in sys.argv[2:]], shipped=False)
"""


@contextmanager
def process(folder: Path, text: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    file = folder / "gateway.yaml"
    file.write_text(text)
    started = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PROGRAM, str(file), *map(str, CATALOGUE)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    lines: list[str] = []
    assert started.stderr is not None
    reader = threading.Thread(target=lambda: lines.extend(iter(started.stderr.readline, "")), daemon=True)  # type: ignore[union-attr]
    reader.start()
    try:
        yield started, lines
    finally:
        started.kill()
        started.wait(PATIENCE)
        reader.join(PATIENCE)
        started.stderr.close()


def url(lines: list[str]) -> str:
    until(lambda: any("listening on" in line for line in lines))
    line = next(line for line in lines if "listening on" in line)
    return line.split("listening on ")[1].split()[0]


def ready(base: str) -> bool:
    try:
        return httpx.get(f"{base}/readyz").status_code == 200
    except httpx.HTTPError:
        return False


def test_a_running_stream_is_finished_before_the_process_ends(tmp_path: Path) -> None:
    rest = Pause()
    with (
        Upstream(sse(delta("first"), rest, delta("last", "stop"), DONE)) as upstream,
        process(tmp_path, config([{"id": "one", "base_url": upstream.url}])) as (started, lines),
    ):
        base = url(lines)
        until(lambda: ready(base))
        body = {"model": "coding", "stream": True}
        with httpx.stream("POST", f"{base}/v1/chat/completions", json=body, timeout=PATIENCE) as answer:
            pieces = answer.iter_bytes()
            assert b"first" in next(pieces)
            started.send_signal(signal.SIGTERM)
            until(lambda: httpx.get(f"{base}/readyz").headers.get("connection") == "close")  # nobody comes back to it
            rest.release()
            assert b"last" in b"".join(pieces)
        assert started.wait(PATIENCE) in (0, -signal.SIGTERM)


def test_a_stream_that_does_not_end_is_cut_off_at_the_bound(tmp_path: Path) -> None:
    with (
        Upstream(sse(delta("first"), Pause())) as upstream,
        process(tmp_path, config([{"id": "one", "base_url": upstream.url}], limits={"drain": "1s"})) as (
            started,
            lines,
        ),
    ):
        base = url(lines)
        until(lambda: ready(base))
        body = {"model": "coding", "stream": True}
        with httpx.stream("POST", f"{base}/v1/chat/completions", json=body, timeout=PATIENCE) as answer:
            next(answer.iter_bytes())
            started.send_signal(signal.SIGTERM)
            assert started.wait(PATIENCE) in (0, -signal.SIGTERM)


def test_the_log_has_a_line_for_each_request_and_no_secret_or_prompt(tmp_path: Path) -> None:
    with (
        Upstream(ok("an answer")) as upstream,
        process(tmp_path, config([{"id": "one", "base_url": upstream.url}])) as (started, lines),
    ):
        base = url(lines)
        until(lambda: ready(base))
        body = {"model": "coding", "messages": [{"role": "user", "content": "a prompt"}]}
        httpx.post(f"{base}/v1/chat/completions", json=body, headers={"authorization": "Bearer mine"})
        httpx.post(f"{base}/v1/chat/completions", json={"model": 'no\n"body"'})
        until(lambda: sum("faultwise.request" in line for line in lines) == 2)
        started.terminate()
        started.wait(PATIENCE)
    served, unknown = (line for line in lines if "faultwise.request" in line)
    assert 'model="coding" target="acme/m" status=200 attempts=1 reason=ok' in served
    assert "status=404" in unknown
    assert not {"s3cr3t", "prompt", "answer", "mine"} & set("".join(lines).replace("-", " ").split())
    assert "Traceback" not in "".join(lines)


def test_a_start_is_told_in_one_line_at_once(tmp_path: Path) -> None:
    with Upstream(ok()) as upstream, process(tmp_path, config([{"id": "one", "base_url": upstream.url}])) as (_, lines):
        base = url(lines)
        (line,) = [one for one in lines if "listening on" in one]
        assert base.startswith("http://127.0.0.1:")
        counts = dict(word.split("=") for word in line.split() if "=" in word)
        assert (counts["connections"], counts["combos"], counts["workers"]) == ("1", "1", "1")
        assert int(counts["rules"]) > 0 and int(counts["cases"]) >= 0


def test_bad_files_refuse_to_start_and_say_where(tmp_path: Path) -> None:
    with process(tmp_path, "faultwise: 1\nkind: gateway\nlistn: x\n") as (started, lines):
        assert started.wait(PATIENCE) != 0
        until(lambda: any("gateway.yaml:3:1: FW010" in line for line in lines))


def test_an_address_in_use_is_said(tmp_path: Path) -> None:
    with Upstream() as upstream:
        text = config([], {}, listen=f"127.0.0.1:{upstream.port}")
        with process(tmp_path, text) as (started, lines):
            assert started.wait(PATIENCE) != 0
            until(lambda: any("FW068 cannot listen on" in line for line in lines))


def test_sighup_loads_what_the_files_say_also_where_nothing_changed(tmp_path: Path) -> None:
    with (
        Upstream(ok()) as upstream,
        process(tmp_path, config([{"id": "one", "base_url": upstream.url}])) as (started, lines),
    ):
        base = url(lines)
        until(lambda: ready(base))
        (tmp_path / "gateway.yaml").write_text("nonsense")
        until(lambda: refusals(lines) == 1)  # it follows its files
        started.send_signal(signal.SIGHUP)
        until(lambda: refusals(lines) == 2)
        assert ready(base)


def refusals(lines: list[str]) -> int:
    return sum("policy refused, generation 1 still serves" in line for line in lines)
