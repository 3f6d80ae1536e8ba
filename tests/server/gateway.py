"""A real server on a free port, around a configuration written for the test."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from faultwise.engine.state.state import State
from faultwise.server.app import create_app
from faultwise.server.cell import Cell, cell
from faultwise.server.loading import Loader
from faultwise.server.serve import bind, make

PATIENCE = 10.0  # seconds after which a test that waits has failed
MEMO: dict[Any, Any] = {}  # parsed rule files, spared their parsing from test to test
HERE = Path(__file__).parent
RULES = HERE.parents[1] / "rules"
# The shipped words, and a few rules of our own: each server starts at once.
CATALOGUE = (RULES / "policy.yaml", HERE / "catalogue")


@dataclass
class Clock:
    """Real time, and what the test adds to it."""

    ahead: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass
class Gateway:
    url: str
    cell: Cell
    clock: Clock
    file: Path
    client: httpx.Client = field(repr=False)

    def chat(self, model: str = "coding", path: str = "/v1/chat/completions", **more: Any) -> httpx.Response:
        body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **more}
        return self.client.post(path, json=body)


def config(connections: list[dict[str, Any]], combos: dict[str, Any] | None = None, **more: Any) -> str:
    """A gateway file. JSON is YAML."""
    rows = [{"provider": "acme", "wire": "openai", "secret": "s3cr3t-" + row["id"], **row} for row in connections]
    named = combos if combos is not None else {"coding": [{"connection": row["id"], "model": "m"} for row in rows]}
    document = {
        "faultwise": 1,
        "kind": "gateway",
        "listen": "127.0.0.1:0",
        "state": "memory://",
        "wait": {"enabled": False},
        "connections": rows,
        "combos": {name: {"targets": targets} for name, targets in named.items()},
        **more,
    }
    return json.dumps(document, indent=1)


@contextmanager
def gateway(
    folder: Path,
    text: str,
    *,
    token: str = "",
    draw: Callable[[], float] = lambda: 0.0,
    follow: bool = False,
    environ: dict[str, str] | None = None,
    kept: State | None = None,
) -> Iterator[Gateway]:
    file = folder / "gateway.yaml"
    file.write_text(text, encoding="utf-8")
    loader = Loader(file, environ or {}, {}, CATALOGUE, shipped=False, memo=MEMO)
    loaded = loader.load()
    state = cell(loaded.policy, loaded.settings, loaded.fingerprint, kept)
    clock = Clock()
    app = create_app(state, loader=loader, clock=clock, draw=draw, token=token, follow=follow)
    listener = bind(loaded.settings)
    server = make(app, state)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    until(lambda: server.started)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        with httpx.Client(base_url=url, timeout=PATIENCE, verify=False) as client:
            yield Gateway(url, state, clock, file, client)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()
        assert not thread.is_alive()


def until(holds: Callable[[], Any]) -> None:
    """Wait for a condition; fail where it does not come about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.005)
