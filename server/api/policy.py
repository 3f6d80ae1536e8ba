"""`/api/policy`: what serves, what was refused last and why, every single setting and where it came from."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from faultwise.server.cell import Cell
from faultwise.server.proxy.access import admin
from faultwise.server.reload import Reloader
from faultwise.server.siblings import MARK, Siblings

from .answer import Json
from .problem import listed, problem


def router(cell: Cell, reloader: Reloader | None, token: str, siblings: Siblings | None = None) -> APIRouter:
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
        """Reads the files again, in every worker, and says which took them in (`acks`) and which did not (`nacks`).

        422 with every problem where they are refused; the last good policy then serves on. 503 where a worker is silent.
        """
        let_in(request)
        if reloader is None:
            return problem(409, "this server was started without files to reload")
        others: dict[int, httpx.Response | None] = {}
        if siblings is None or MARK in request.headers:
            taken = await reloader.reload()
        else:
            asked = siblings.ask("POST", "/api/policy/reload", token)
            taken, others = await asyncio.gather(reloader.reload(), asked)
        own = {"worker": os.getpid(), **_active(cell)}
        problems = [] if taken or cell.refusal is None else listed(cell.refusal.problems)
        acks, nacks = ([own], []) if taken else ([], [{**own, "problems": problems}])
        for worker, answer in others.items():
            told = _told(worker, answer)
            acks += told["acks"]
            nacks += told["nacks"]
        if not nacks:
            return Json({"acks": acks, "nacks": nacks, **_active(cell)})
        refused = [one for one in nacks if "problems" in one]
        detail = f"the files were refused; generation {cell.active.generation} still serves"
        if not refused:
            detail = f"{len(nacks)} workers did not answer; they follow the files by themselves"
        problems = problems or next((one["problems"] for one in refused), [])
        more = {"problems": problems, "acks": acks, "nacks": nacks, **_active(cell)}
        return problem(422 if refused else 503, detail, **more)

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


def _told(worker: int, answer: httpx.Response | None) -> dict[str, list[dict[str, Any]]]:
    """What another worker says of its reload."""
    try:
        told = answer.json() if answer is not None else {}
    except ValueError:
        told = {}
    if not isinstance(told, dict) or not (told.get("acks") or told.get("nacks")):
        return {"acks": [], "nacks": [{"worker": worker, "detail": "no answer"}]}
    return {"acks": told["acks"], "nacks": told["nacks"]}


def _active(cell: Cell) -> dict[str, Any]:
    active = cell.active
    return {"generation": active.generation, "digest": active.policy.digest, "fingerprint": active.fingerprint}
