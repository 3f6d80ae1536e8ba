"""A healthy request through the proxy, next to nginx as a reverse proxy, in the same run."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

REQUEST = b'{"model": "bench", "messages": [{"role": "user", "content": "hello"}]}'
ANSWER = (
    '{"id":"x","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":'
    '{"role":"assistant","content":"' + "hello " * 130 + '"},"finish_reason":"stop"}]}'
)
ROUNDS, REQUESTS, WARM = 7, 200, 100


def rows() -> list[dict[str, object]]:
    """One row, or none with a line that says why."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None:
        print("proxying: skipped, there is no nginx to measure against", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as name, running(Path(name), nginx) as (reverse, ours):
        sides = {
            "nginx": http.client.HTTPConnection("127.0.0.1", reverse),
            "ours": http.client.HTTPConnection("127.0.0.1", ours),
        }
        for side in sides.values():
            p50(side, WARM)
        seen = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, side in sides.items():
                seen[name].append(p50(side, REQUESTS))
    mine, theirs = median(seen["ours"]), median(seen["nginx"])
    return [
        {
            "what": "healthy request, c = 1, p50 against nginx",
            "us": mine,
            "yardstick_us": theirs,
            "ratio": mine / theirs,
            "target": "<= 8",
        }
    ]


def p50(side: http.client.HTTPConnection, count: int) -> float:
    """The median time of a request, in microseconds."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        side.request("POST", "/v1/chat/completions", REQUEST, {"content-type": "application/json"})
        answer = side.getresponse()
        answer.read()
        taken.append((time.perf_counter() - start) * 1e6)
        assert answer.status == 200, answer.status
    return median(taken)


@contextlib.contextmanager
def running(folder: Path, nginx: str) -> Iterator[tuple[int, int]]:
    """An nginx that answers and one that forwards, and our proxy before the first; yields the ports to ask."""
    origin, reverse, ours = (free() for _ in range(3))
    (folder / "nginx.conf").write_text(
        f"""daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder}; keepalive_requests 1000000;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 64; }}
  server {{ listen 127.0.0.1:{origin}; location / {{ default_type application/json; return 200 '{ANSWER}'; }} }}
  server {{ listen 127.0.0.1:{reverse}; location / {{
    proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }} }}
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
    command = [sys.executable, "-m", "faultwise.server.cli", "serve", "--config", str(folder / "gateway.yaml")]
    started = []
    try:
        with open(folder / "log", "w", encoding="utf-8") as log:
            for words in ([nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")], command):
                started.append(subprocess.Popen(words, stdout=log, stderr=log))
            for port in (origin, reverse, ours):
                reachable(port)
        yield reverse, ours
    finally:
        for process in started:
            process.terminate()
            process.wait(20)


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
