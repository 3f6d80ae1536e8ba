"""`/api/policy`: what serves, what was refused last and why, every single setting and where it came from."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from faultwise.server.cell import Cell
from faultwise.server.proxy.access import admin
from faultwise.server.reload import Reloader

from .answer import Json
from .problem import listed, problem


def router(cell: Cell, reloader: Reloader | None, token: str) -> APIRouter:
    """The routes of the policy."""
    routes = APIRouter()

    def let_in(request: Request) -> None:
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])

    @routes.get("/api/policy")
    async def policy(request: Request) -> Response:
        """The policy in use, and the newest one where that is another."""
        let_in(request)
        return Json(described(cell))

    @routes.post("/api/policy/reload")
    async def reload(request: Request) -> Response:
        """Reads the files again. 422 with every problem where they are refused; the last good policy then serves on."""
        let_in(request)
        if reloader is None:
            return problem(409, "this server was started without files to reload")
        if await reloader.reload():
            return Json({"acks": [_active(cell)], "nacks": [], **_active(cell)})
        refusal = cell.refusal
        problems = listed(refusal.problems) if refusal else []
        detail = f"the files were refused; generation {cell.active.generation} still serves"
        return problem(422, detail, problems=problems, **_active(cell))

    return routes


def described(cell: Cell) -> dict[str, Any]:
    """Everything `/api/policy` shows. Never a secret: connections and keys are not part of it."""
    active, refusal = cell.active, cell.refusal
    desired = _active(cell) | {"accepted": True}
    error = None
    if refusal is not None:
        desired = {"fingerprint": refusal.fingerprint, "accepted": False}
        error = {"at": refusal.at, "problems": listed(refusal.problems), "text": "\n".join(map(str, refusal.problems))}
    return {
        **_active(cell),
        "files": list(active.policy.files),
        "active": _active(cell),
        "desired": desired,
        "last_error": error,
        "warnings": listed(active.settings.warnings),
        "settings": {name: {"value": one.value, "source": one.source} for name, one in active.settings.values.items()},
    }


def _active(cell: Cell) -> dict[str, Any]:
    active = cell.active
    return {"generation": active.generation, "digest": active.policy.digest, "fingerprint": active.fingerprint}
