"""What the policy costs where nothing failed: a look at the answer, a look at the locks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from fastapi import FastAPI, Request, Response
from matching import Row  # beside this script

from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect
from faultwise.engine.state.locks import Locks
from faultwise.engine.store.memory import Memory
from faultwise.server.proxy.glance import ordinary

KEYS = ("openai", "openai/main", "openai/main/m")
ANSWER = (
    b'{"id":"x","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":"' + b"hello " * 130 + b'"},"finish_reason":"stop"}]}'
)


def rows() -> Iterator[Row]:
    """Each row: what, ours, the yardstick, the target."""
    locks = Locks(Memory(), lambda kind, key, lock: None)
    yield "state read on the healthy path", lambda: locks.closed(KEYS[0], 0.0), lambda: _nothing(KEYS[0], 0.0), "<= 2"
    yield "policy on a healthy request against a bare FastAPI request", policy(locks), bare(), "<= 0.02"


def policy(locks: Locks) -> Callable[[], object]:
    """All that a healthy request runs of the policy: the locks before it, the glance at its answer, its success."""

    envelopes = load(collect(), {}).envelopes

    def once() -> object:
        for key in KEYS:
            locks.closed(key, 0.0)
        return ordinary(ANSWER, envelopes) and list(locks.succeeded(KEYS, 0.0, 1.0))

    return once


def bare() -> Callable[[], object]:
    """A request through FastAPI that only answers, without sockets: less than half of what a proxied one costs."""
    app = FastAPI()
    loop = asyncio.new_event_loop()

    @app.post("/v1/chat/completions")
    async def answer(request: Request) -> Response:
        await request.body()
        return Response(ANSWER, media_type="application/json")

    scope = {
        "type": "http", "method": "POST", "path": "/v1/chat/completions", "raw_path": b"/v1/chat/completions",
        "query_string": b"", "headers": [(b"content-type", b"application/json")], "http_version": "1.1",
        "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b'{"model": "bench", "messages": []}', "more_body": False}

    async def send(message: object) -> None:
        return None

    return lambda: loop.run_until_complete(app(dict(scope), receive, send))


def _nothing(key: str, now: float) -> None:
    return None
