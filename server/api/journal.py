"""`GET /api/decisions`: the newest lines of the decision log, filtered; gathered by what no rule knows; or followed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from faultwise.dsl import duration
from faultwise.engine.failure.intake import instant
from faultwise.server.cell import Cell
from faultwise.server.journal.recent import KEPT, Follower, Recent, Wanted, unmatched
from faultwise.server.proxy.access import admin
from faultwise.server.proxy.request import Refused

from .answer import Json

FOLLOWERS = 32  # at once
TICK = 1.0  # seconds between looks at whether the server is going down
QUIET = 15  # ticks without a line before a comment says that the stream lives
TEXTS = ("provider", "reason", "rule", "connection")
KNOWN = (*TEXTS, "status", "since", "unmatched", "limit")


def router(cell: Cell, recent: Recent, token: str, clock: Callable[[], float]) -> APIRouter:
    """The route of recent decisions."""
    routes = APIRouter()

    async def follow(wanted: Wanted) -> AsyncIterator[bytes]:
        follower = Follower(wanted, asyncio.get_running_loop())
        leave = recent.follow(follower)
        quiet = 0
        try:
            yield b": following\n\n"
            while not cell.draining:
                row = await follower.next(TICK)
                if row is not None:
                    yield b"data: " + json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n\n"
                quiet = quiet + 1 if row is None else 0
                if follower.missed:
                    yield f"event: missed\ndata: {follower.missed}\n\n".encode()
                    follower.missed = 0
                if quiet >= QUIET:
                    quiet = 0
                    yield b": quiet\n\n"
        finally:
            leave()

    @routes.get("/api/decisions")
    async def decisions(request: Request) -> Response:
        """The newest first; with `Accept: text/event-stream`, those to come."""
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])
        wanted, limit = _wanted(request.query_params, clock())
        if "text/event-stream" in request.headers.get("accept", ""):
            if recent.following >= FOLLOWERS:
                raise Refused(429, f"{FOLLOWERS} clients follow the decisions already", "too_many")
            return StreamingResponse(follow(wanted), media_type="text/event-stream")
        if wanted.unmatched:
            rows = recent.find(wanted)
            found = await asyncio.to_thread(unmatched, rows, cell.active.policy)
            return Json(found[:limit])
        return Json(recent.find(wanted, limit))

    return routes


def _wanted(asked: Mapping[str, str], now: float) -> tuple[Wanted, int]:
    """What the query asks for, and how many at most. Raises `Refused`."""
    for name in asked:
        if name not in KNOWN:
            raise Refused(422, f"unknown filter `{name}`; known: {', '.join(KNOWN)}", "unreadable")
    try:
        wanted = Wanted(
            **{name: asked.get(name) for name in TEXTS},
            status=_number(asked["status"]) if "status" in asked else None,
            since=_since(asked["since"], now) if "since" in asked else None,
            unmatched=asked.get("unmatched", "0") not in ("0", "", "false"),
        )
        return wanted, max(1, min(_number(asked.get("limit", "100")), KEPT))
    except ValueError as error:
        raise Refused(422, str(error), "unreadable") from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise ValueError(f"`{text}` is not a number")
    return int(text)


def _since(text: str, now: float) -> float:
    """A time (RFC 3339), or how long ago (`10m`). Raises ValueError."""
    try:
        return now - duration(text)
    except ValueError:
        pass
    try:
        return instant(text)
    except ValueError:
        raise ValueError(f"`since`: `{text}` is neither a time nor a duration such as `10m`") from None
