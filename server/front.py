"""The door: what is asked most goes straight to where it is answered, everything else through the application."""

from __future__ import annotations

from collections.abc import Awaitable

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .cell import Cell
from .proxy.app import Proxy


class Front:
    """An ASGI application. The proxied paths pass none of the application's middleware."""

    def __init__(self, app: FastAPI, cell: Cell) -> None:
        self._app = app
        self._cell = cell
        found = [route for route in app.routes if isinstance(route, Route)]
        proxied = {route.path: route.endpoint for route in found if isinstance(route.endpoint, Proxy)}
        self._direct: dict[str, ASGIApp] = {path: one for path, one in proxied.items() if "{" not in path}
        # what stands before the part that varies, whether that may hold slashes, and who answers
        self._below = [(path.partition("{")[0], ":path}" in path, one) for path, one in proxied.items() if "{" in path]

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer one request, or run the application's life."""
        if self._cell.draining and scope["type"] == "http":
            send = _last(send)
        if scope["type"] == "http" and scope["method"] == "POST":
            path = scope["path"]
            return (self._direct.get(path) or self._varying(path))(scope, receive, send)
        return self._app(scope, receive, send)

    def _varying(self, path: str) -> ASGIApp:
        for prefix, deep, proxy in self._below:
            if path.startswith(prefix) and (deep or "/" not in path[len(prefix) :]):
                return proxy
        return self._app


def _last(send: Send) -> Send:
    """Of a server that goes down: no further request is to come on this connection, for it would be lost."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return sent
