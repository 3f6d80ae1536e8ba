"""`faultwise demo`: a relay misstates its quota; the proxy in front of it does not believe the status.

Two fake upstreams and the real proxy on free ports of 127.0.0.1, a few real requests, and what happened.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from faultwise.server.app import create_app
from faultwise.server.cell import cell
from faultwise.server.loading import Loader
from faultwise.server.serve import bind, log_to, make

from . import FINE
from .output import DIM, PLAIN, colour

QUOTA = {"error": {"message": "用户额度不足", "type": "new_api_error"}}
ANSWER = {
    "id": "demo",
    "object": "chat.completion",
    "created": 0,
    "model": "demo",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "hello from the second"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 4, "total_tokens": 5},
}
CHAT = {"model": "coding", "messages": [{"role": "user", "content": "hello"}]}
SHOWN = ("status", "upstream_status", "reason", "scope", "temporary", "fallback", "cooldown_s", "rule", "restated_by")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("--keep", action="store_true", help="leave the proxy running until interrupted")


def run(options: argparse.Namespace) -> int:
    """Show it; 1 where it did not survive."""
    with Upstream(403, QUOTA) as relay, Upstream(200, ANSWER) as main, _proxy(relay, main) as base:
        survived = _show(base, relay, main)
        if options.keep:
            print(f"\nThe proxy goes on at {base} (its policy: {base}/api/policy). Ctrl-C ends it.")
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                print()
    return FINE if survived else 1


class Upstream(ThreadingHTTPServer):
    """A fake upstream that gives every request the same answer."""

    daemon_threads = True

    def __init__(self, status: int, answer: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.answer, self.asked = status, json.dumps(answer, ensure_ascii=False).encode(), 0
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __exit__(self, *gone: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.asked += 1
        self.send_response(self.server.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(self.server.answer)))
        self.end_headers()
        self.wfile.write(self.server.answer)

    def log_message(self, *_: object) -> None:
        """What is asked is counted, not printed."""


@contextmanager
def _proxy(relay: Upstream, main: Upstream) -> Iterator[str]:
    """The real proxy between the client and the two; yields its address."""
    connection = "  - {{id: {}, provider: {}, base_url: 'http://127.0.0.1:{}/v1', wire: openai, secret: demo}}\n"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "gateway.yaml"
        config.write_text(
            "faultwise: 1\nkind: gateway\nlisten: 127.0.0.1:0\nstate: memory://\nconnections:\n"
            + connection.format("relay", "agentrouter", relay.server_port)
            + connection.format("main", "openai", main.server_port)
            + "combos:\n  coding:\n    strategy: priority\n    targets:\n"
            + "".join(f"      - {{connection: {name}, model: demo}}\n" for name in ("relay", "main")),
            encoding="utf-8",
        )
        log_to(sys.stderr, logging.WARNING)
        loader = Loader(config, {})
        loaded = loader.load()
        held = cell(loaded.policy, loaded.settings, loaded.fingerprint)
        listener = bind(loaded.settings)
        server = make(create_app(held, loader=loader), held)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
            listener.close()


def _show(base: str, relay: Upstream, main: Upstream) -> bool:
    with httpx.Client(base_url=base, trust_env=False, timeout=30, transport=httpx.HTTPTransport(retries=5)) as client:
        direct = httpx.post(f"http://127.0.0.1:{relay.server_port}/v1/chat/completions", json=CHAT, trust_env=False)
        relay.asked = 0
        _step("1. The relay's quota is used up and refills in a minute. What it says:")
        _line(f"HTTP {direct.status_code}  {direct.text}")

        failure = {"provider": "agentrouter", "connection": "relay", "status": direct.status_code, "body": direct.text}
        verdict = client.post("/api/classify", json=failure).json()
        _step("2. What Faultwise makes of it:")
        for name in SHOWN:
            _line(f"{name:<16} {json.dumps(verdict[name], ensure_ascii=False)}")

        first = client.post("/v1/chat/completions", json=CHAT)
        asked = (relay.asked, main.asked)
        _step("3. A client asks the proxy for `coding`, whose first target is that relay:")
        _line(f"HTTP {first.status_code}  {_content(first)}")
        _line(f"attempts {first.headers['x-faultwise-attempts']}, answered by {first.headers['x-faultwise-target']}")

        second = client.post("/v1/chat/completions", json=CHAT)
        skipped = (relay.asked, main.asked) == (asked[0], asked[1] + 1)
        _step("4. And again: the cooling connection is not asked at all:")
        _line(f"HTTP {second.status_code}  {_content(second)}")
        _line(f"attempts {second.headers['x-faultwise-attempts']}, requests the relay saw: {relay.asked}")
    survived = first.status_code == second.status_code == 200 and asked == (1, 1) and skipped
    print("\nSurvived." if survived else "\nNot survived.")
    return survived


def _content(answer: httpx.Response) -> str:
    data = answer.json()
    return str(data["choices"][0]["message"]["content"] if "choices" in data else data)


def _step(text: str) -> None:
    print(f"\n{text}")


def _line(text: str) -> None:
    print(f"   {DIM}{text}{PLAIN}" if colour(sys.stdout) else f"   {text}")
