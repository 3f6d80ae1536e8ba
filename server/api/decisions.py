"""`POST /api/classify` and `POST /api/explain`: the pipeline for routers in other languages. Stateless."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from faultwise.engine.failure.intake import intake
from faultwise.engine.failure.record import Failure
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import decide
from faultwise.engine.verdict.explain import explain
from faultwise.server.cell import Cell
from faultwise.server.proxy.access import client
from faultwise.server.proxy.body import whole
from faultwise.server.proxy.request import Refused

from .answer import Json

ROWS_LIMIT = 1000  # failures in one request
BODY_LIMIT = 8 * 1024 * 1024


def router(cell: Cell, clock: Callable[[], float]) -> APIRouter:
    """The routes of the decision service."""
    routes = APIRouter()

    def verdict(policy: Policy, failure: Failure) -> dict[str, Any]:
        return decide(policy, failure).to_json()

    def explanation(policy: Policy, failure: Failure) -> dict[str, Any]:
        return {"id": failure.id, **explain(policy, failure).to_json()}

    async def answer(request: Request, of: Callable[[Policy, Failure], dict[str, Any]]) -> Response:
        active = cell.active
        client(tuple(request.headers.raw), b"", active.settings.keys, "classify")
        asked = _rows(await whole(request.receive, BODY_LIMIT))
        rows = asked if isinstance(asked, list) else [asked]
        if len(rows) > ROWS_LIMIT:
            raise Refused(413, f"more than {ROWS_LIMIT} failures in one request", "too_many")
        now = clock()
        found = [_one(row, now, active.policy, active.generation, of) for row in rows]
        if isinstance(asked, list):
            return Json(found)
        if "error" in found[0]:
            raise Refused(422, found[0]["error"], "unreadable")
        return Json(found[0])

    @routes.post("/api/classify")
    async def classify(request: Request) -> Response:
        """The verdict on one failure, or on each of a list."""
        return await answer(request, verdict)

    @routes.post("/api/explain")
    async def explained(request: Request) -> Response:
        """The trace of one decision, or of each of a list."""
        return await answer(request, explanation)

    return routes


def _rows(body: bytes) -> Any:
    try:
        return json.loads(body)
    except RecursionError:
        raise Refused(400, "the body is nested too deeply", "not_json") from None
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}", "not_json") from None


def _one(
    row: Any, now: float, policy: Policy, generation: int, of: Callable[[Policy, Failure], dict[str, Any]]
) -> dict[str, Any]:
    try:
        failure = intake(row, now)
    except ValueError as error:
        return {"id": row.get("id") if isinstance(row, dict) else None, "error": str(error)}
    return {**of(policy, failure), "generation": generation}
