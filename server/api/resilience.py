"""What operators do to the state: list and clear lockouts, reset what is closed, close a connection by hand."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from faultwise.engine.failure.intake import instant
from faultwise.engine.state.lock import MODEL_SCOPES, Lock
from faultwise.server.cell import Cell
from faultwise.server.proxy.access import admin
from faultwise.server.proxy.body import whole
from faultwise.server.proxy.request import Refused

from .answer import Json
from .health import shown

log = logging.getLogger("faultwise.state")
BODY_LIMIT = 64 * 1024
NAMES = frozenset(("provider", "connection", "model"))


def router(cell: Cell, token: str, clock: Callable[[], float]) -> APIRouter:
    """The routes of resilience."""
    routes = APIRouter()

    def let_in(request: Request) -> None:
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])

    def lockouts() -> list[Lock]:
        cell.state.sync()
        return [lock for lock in cell.locks.active(clock()) if lock.scope in MODEL_SCOPES]

    @routes.get("/api/resilience/model-cooldowns")
    async def listed(request: Request) -> Response:
        """The active model lockouts."""
        let_in(request)
        return Json([shown(cell, lock) for lock in lockouts()])

    @routes.delete("/api/resilience/model-cooldowns")
    async def cleared(request: Request) -> Response:
        """Clears the lockouts that `{provider, connection, model}` names; what is left out matches all."""
        let_in(request)
        wanted = await _asked(request, NAMES)
        named = [lock for lock in lockouts() if all(getattr(lock, key) == value for key, value in wanted.items())]
        return Json({"cleared": [lock.key for lock in named if cell.locks.clear(lock.key, clock())]})

    @routes.post("/api/resilience/reset")
    async def reset(request: Request) -> Response:
        """Opens what `{provider, connection, model}` names, or `{all: true}`: locks, breakers, gates, terminal states."""
        let_in(request)
        wanted = await _asked(request, NAMES | {"all"})
        everything = wanted.pop("all", False)
        if everything is not True and not wanted:
            raise Refused(422, "name a `provider`, a `connection`, a `model`, or say `all: true`", "unreadable")
        keys = cell.state.clear(clock(), **({} if everything is True else wanted))
        log.info("reset by hand %s cleared=%s", json.dumps(wanted) if wanted else "all", ",".join(keys) or "-")
        return Json({"cleared": keys})

    @routes.post("/api/resilience/lock")
    async def lock(request: Request) -> Response:
        """Closes a `connection` by hand, `until` a time (RFC 3339 or epoch seconds) or until it is reset."""
        let_in(request)
        wanted = await _asked(request, frozenset(("connection", "until")))
        found = cell.active.routes.connection(str(wanted.get("connection")))
        if found is None:
            raise Refused(404, f"no connection `{wanted.get('connection')}` is configured", "not_found")
        try:
            until = instant(wanted["until"]) if wanted.get("until") is not None else None
        except ValueError as error:
            raise Refused(422, str(error).replace("`now`", "`until`"), "unreadable") from None
        provider = cell.active.policy.provider(found.provider).name
        held = cell.state.hold(found.id, provider, until, clock())
        log.info("lock by hand connection=%s until=%s", found.id, until if until is not None else "reset")
        return Json(shown(cell, held))

    return routes


async def _asked(request: Request, known: frozenset[str]) -> dict[str, Any]:
    try:
        asked = json.loads(await whole(request.receive, BODY_LIMIT) or b"{}")
    except RecursionError:
        raise Refused(400, "the body is nested too deeply", "not_json") from None
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}", "not_json") from None
    if not isinstance(asked, dict) or not set(asked) <= known:
        names = ", ".join(f"`{name}`" for name in sorted(known))
        raise Refused(422, f"expected an object with {names}", "unreadable")
    return asked
