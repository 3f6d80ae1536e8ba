"""A healthy request through the proxy, next to nginx as a reverse proxy and to bare FastAPI with httpx, in one run.

Needs nginx and wrk; without them there are no rows, and a line that says so. The servers that are compared share one
core, the load and the origin have the other, and the rounds take turns.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

REQUEST = '{"model": "bench", "messages": [{"role": "user", "content": "' + "hello " * 150 + '"}]}'
ANSWER = (
    '{"id":"x","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":'
    '{"role":"assistant","content":"' + "hello " * 130 + '"},"finish_reason":"stop"}]}'
)
SCRIPT = """wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.body = '%s'
done = function(summary, latency)
  print(string.format("RESULT %%d %%d %%d %%d", latency:percentile(50), summary.requests, summary.duration,
    summary.errors.status + summary.errors.read + summary.errors.connect + summary.errors.timeout))
end
"""
ROUNDS = 5
SECONDS = {1: 2, 32: 3, 256: 3}
SETUP = 2  # seconds of warming each side up
IDLE = 20_000_000  # nanoseconds of processor time in a fifth of a second: less is nothing


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """The rows of the table."""
    tools = {name: shutil.which(name) or shutil.which(name, path="/usr/sbin") for name in ("nginx", "wrk")}
    if missing := [name for name, path in tools.items() if path is None]:
        print(f"proxying: skipped, there is no {' and no '.join(missing)} to measure with", file=sys.stderr)
        return []
    seen: dict[tuple[str, int], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as name, running(Path(name), str(tools["nginx"])) as ports:
        script = Path(name) / "load.lua"
        script.write_text(SCRIPT % REQUEST, encoding="utf-8")
        for port, _ in ports.values():
            load(str(tools["wrk"]), script, port, 8, SETUP)
        for _ in range(rounds):
            for many, seconds in SECONDS.items():
                for side, (port, pid) in ports.items():
                    seen.setdefault((side, many), []).append(load(str(tools["wrk"]), script, port, many, seconds))
                    idle(pid)  # one that is behind works on for seconds, on the core the next one needs
    found = [_row("healthy request, c = 1, p50 against nginx", seen, 1, "nginx", "<= 8")]
    for many, target in ((32, ">= 5"), (256, ">= 10")):
        found.append(_row(f"healthy requests, c = {many}, req/s against bare FastAPI", seen, many, "bare", target))
        found.append(_row(f"healthy requests, c = {many}, req/s against nginx", seen, many, "nginx", "-"))
    wide, narrow = (median(rate for _, rate in seen["ours", many]) for many in (256, 32))
    what = "healthy requests, req/s at c = 256 against c = 32"
    found.append(
        {"what": what, "us": 1e6 / wide, "yardstick_us": 1e6 / narrow, "ratio": wide / narrow, "target": ">= 0.6"}
    )
    return found


def load(wrk: str, script: Path, port: int, many: int, seconds: int) -> tuple[float, float]:
    """Ask for some seconds with so many connections: the median time of a request in microseconds, and requests a second."""
    command = [wrk, "-t1", f"-c{many}", f"-d{seconds}s", "--timeout", "20s", "-s", str(script)]
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    said = subprocess.run([*pinned(0), *command, url], check=True, capture_output=True, text=True, timeout=120).stdout
    numbers = re.search(r"RESULT (\d+) (\d+) (\d+) (\d+)", said)
    assert numbers is not None, said
    p50, requests, took, errors = map(int, numbers.groups())
    assert errors == 0, said
    return p50, requests / took * 1e6


def idle(pid: int) -> None:
    """Wait until a process no longer uses the processor; at most half a minute."""
    until, before = time.monotonic() + 30, ""
    while time.monotonic() < until:
        now = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]
        if before and int(now) - int(before) < IDLE:
            return
        before = now
        time.sleep(0.2)


def _row(
    what: str, seen: dict[tuple[str, int], list[tuple[float, float]]], many: int, yardstick: str, target: str
) -> dict[str, object]:
    """A row: of latencies for one request at a time, of rates for many. Rates are shown as time per request."""
    place = 0 if many == 1 else 1
    mine, theirs = (median(one[place] for one in seen[side, many]) for side in ("ours", yardstick))
    shown = (mine, theirs) if many == 1 else (1e6 / mine, 1e6 / theirs)
    return {"what": what, "us": shown[0], "yardstick_us": shown[1], "ratio": mine / theirs, "target": target}


@contextlib.contextmanager
def running(folder: Path, nginx: str, origin: int | None = None) -> Iterator[dict[str, tuple[int, int]]]:
    """Three that forward to one origin: an nginx, bare FastAPI, and ours. Yields their ports and process ids.

    Without an `origin` of one's own that is an nginx which answers at once.
    """
    given = origin is not None
    reverse, bare, ours = (free() for _ in range(3))
    origin = origin if origin is not None else free()
    shared = f"""daemon off; master_process off; error_log {folder}/error.log;
events {{ worker_connections 2048; }}
http {{
  access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder}; keepalive_requests 10000000; client_body_buffer_size 64k;
"""
    (folder / "origin.conf").write_text(
        f"""pid {folder}/origin.pid; {shared}
  server {{ listen 127.0.0.1:{origin} backlog=1024;
    location / {{ default_type application/json; return 200 '{ANSWER}'; }} }}
}}
""",
        encoding="utf-8",
    )
    (folder / "reverse.conf").write_text(
        f"""pid {folder}/reverse.pid; {shared}
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 64; keepalive_requests 10000000; }}
  server {{ listen 127.0.0.1:{reverse} backlog=1024;
    location / {{ proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }} }}
}}
""",
        encoding="utf-8",
    )
    (folder / "gateway.yaml").write_text(
        f"""faultwise: 1
kind: gateway
listen: 127.0.0.1:{ours}
state: memory://
connections:
  - {{id: main, provider: openai, base_url: 'http://127.0.0.1:{origin}/v1', wire: openai, secret: x}}
combos:
  bench: {{strategy: priority, targets: [{{connection: main, model: m}}]}}
""",
        encoding="utf-8",
    )
    here = str(Path(__file__).parent)
    uvicorn = [sys.executable, "-m", "uvicorn", "--app-dir", here, "--log-level", "warning", "--no-access-log"]
    serve = [sys.executable, "-m", "faultwise.server.cli", "serve", "--config", str(folder / "gateway.yaml")]
    commands = (
        [*pinned(0), nginx, "-p", str(folder), "-c", str(folder / "origin.conf")],
        [*pinned(1), nginx, "-p", str(folder), "-c", str(folder / "reverse.conf")],
        [*pinned(1), *uvicorn, "--port", str(bare), "bare:app"],
        [*pinned(1), *serve],
    )
    started = []
    try:
        with open(folder / "log", "w", encoding="utf-8") as log:
            for words in commands[1:] if given else commands:
                environ = {**os.environ, "ORIGIN": f"http://127.0.0.1:{origin}"}
                started.append(subprocess.Popen(words, stdout=log, stderr=log, env=environ))
            for port in (origin, reverse, bare, ours):
                reachable(port)
        pids = [process.pid for process in started][-3:]
        yield dict(zip(("nginx", "bare", "ours"), zip((reverse, bare, ours), pids, strict=True), strict=True))
    finally:
        for process in started:
            process.terminate()
            process.wait(20)


def pinned(core: int) -> list[str]:
    """Words before a command that keep it on one core, where that can be told and there are two."""
    taskset = shutil.which("taskset")
    return [taskset, "-c", str(core)] if taskset is not None and (os.cpu_count() or 1) > 1 else []


def free() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def reachable(port: int) -> None:
    """Wait until somebody listens."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"nobody listens on {port}")
