"""The door: what is asked most goes straight to where it is answered, everything else through the application."""

from __future__ import annotations

from collections.abc import Awaitable

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .proxy.app import Proxy


class Front:
    """An ASGI application. The proxied paths that are one fixed path pass none of the application's middleware."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._direct: dict[str, ASGIApp] = {
            route.path: route.endpoint
            for route in app.routes
            if isinstance(route, Route) and isinstance(route.endpoint, Proxy) and "{" not in route.path
        }

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer one request, or run the application's life."""
        if scope["type"] == "http" and scope["method"] == "POST":
            return self._direct.get(scope["path"], self._app)(scope, receive, send)
        return self._app(scope, receive, send)
