"""`/healthz`, `/readyz` and what is closed at the moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from faultwise.engine.state.lock import Lock
from faultwise.server.cell import Cell
from faultwise.server.proxy.access import admin
from faultwise.server.proxy.body import whole
from faultwise.server.proxy.request import Refused

MODEL_SCOPES = ("model", "model_family")
BODY_LIMIT = 64 * 1024


def router(cell: Cell, token: str, clock: Callable[[], float]) -> APIRouter:
    """The routes of probes and of the state at a glance."""
    routes = APIRouter()

    def let_in(request: Request) -> None:
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])

    def lockouts() -> list[Lock]:
        return [lock for lock in cell.locks.active(clock()) if lock.scope in MODEL_SCOPES]

    @routes.get("/healthz")
    async def alive() -> Response:
        """200 while the process answers."""
        return JSONResponse({"status": "ok"})

    @routes.get("/readyz")
    async def ready() -> Response:
        """200 while requests are welcome, 503 once the server is going down. A refused policy leaves it ready."""
        state = {
            "status": "draining" if cell.draining else "ready",
            "generation": cell.active.generation,
            "policy_error": None if cell.refusal is None else str(cell.refusal.problems[0]).splitlines()[0],
        }
        return JSONResponse(state, 503 if cell.draining else 200)

    @routes.get("/api/monitoring/health")
    async def health(request: Request) -> Response:
        """Every active lock, the soonest end first."""
        let_in(request)
        active = cell.locks.active(clock())
        return JSONResponse(
            {
                "generation": cell.active.generation,
                "connections": [lock.to_json() for lock in active if lock.scope not in MODEL_SCOPES],
                "lockouts": [lock.to_json() for lock in active if lock.scope in MODEL_SCOPES],
            }
        )

    @routes.get("/api/resilience/model-cooldowns")
    async def listed(request: Request) -> Response:
        """The active model lockouts."""
        let_in(request)
        return JSONResponse([lock.to_json() for lock in lockouts()])

    @routes.delete("/api/resilience/model-cooldowns")
    async def cleared(request: Request) -> Response:
        """Clears the lockouts that `{provider, connection, model}` names; what is left out matches all."""
        let_in(request)
        wanted = _wanted(await whole(request.receive, BODY_LIMIT))
        named = [lock for lock in lockouts() if all(getattr(lock, key) == value for key, value in wanted.items())]
        return JSONResponse({"cleared": [lock.key for lock in named if cell.locks.clear(lock.key, clock())]})

    return routes


def _wanted(body: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(body or b"{}")
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}", "not_json") from None
    if not isinstance(asked, dict) or not set(asked) <= {"provider", "connection", "model"}:
        raise Refused(422, "expected an object with `provider`, `connection`, `model`", "unreadable")
    return asked
