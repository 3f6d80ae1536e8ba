"""`POST /api/report` and `POST /api/gate`: the state, for routers in other languages."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from faultwise.engine.failure.decode import cleaned
from faultwise.engine.failure.intake import instant, intake
from faultwise.engine.state.lock import Exclusion, Identity, Trial
from faultwise.engine.state.outcome import Outcome
from faultwise.engine.verdict.decide import conclude
from faultwise.server.cell import Active, Cell
from faultwise.server.journal.redact import redacted
from faultwise.server.proxy.access import admin
from faultwise.server.proxy.body import whole
from faultwise.server.proxy.cutoff import cut_off
from faultwise.server.proxy.outcome import said
from faultwise.server.proxy.request import Refused
from faultwise.server.proxy.target import family
from faultwise.server.proxy.waiting import claimed

from .answer import Json
from .decisions import BODY_LIMIT, ROWS_LIMIT

ERROR_LIMIT = 300


def router(cell: Cell, token: str, clock: Callable[[], float], draw: Callable[[], float]) -> APIRouter:
    """The routes for other routers."""
    routes = APIRouter()

    async def rows(request: Request, key: str | None = None) -> tuple[bool, list[Any]]:
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])
        try:
            asked = json.loads(await whole(request.receive, BODY_LIMIT))
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"the body is not JSON: {error}", "not_json") from None
        if key is not None and isinstance(asked, dict) and key in asked:
            asked = asked[key]
        found = asked if isinstance(asked, list) else [asked]
        if len(found) > ROWS_LIMIT:
            raise Refused(413, f"more than {ROWS_LIMIT} rows in one request", "too_many")
        return isinstance(asked, list), found

    @routes.post("/api/report")
    async def report(request: Request) -> Response:
        """Takes in how an attempt ended: a failure as `/api/classify` reads it, or `ok: true`; the state follows.

        Names who was asked (`provider`, `connection`, `model`, `host`, `egress`), and `started` where it is known.
        """
        many, asked = await rows(request)
        found = [_reported(cell, row, clock(), draw()) for row in asked]
        if not many and "error" in found[0]:
            raise Refused(422, found[0]["error"], "unreadable")
        return Json(found if many else found[0])

    @routes.post("/api/gate")
    async def gate(request: Request) -> Response:
        """Which of the `targets` are open now, and why the others are not. A target with `claim: true` takes the trial
        it needs, if one is free; its report gives it back, under the `permit` it was told.
        """
        _, asked = await rows(request, "targets")
        return Json({"targets": [await _gated(cell, row, clock()) for row in asked]})

    return routes


def _reported(cell: Cell, row: Any, now: float, draw: float) -> dict[str, Any]:
    active = cell.active
    try:
        identity = _identity(active, row)
        started = instant(row["started"]) if row.get("started") is not None else now
        ok = row.get("ok") is True
        failure = None if ok else intake({**row, **_bound(identity)}, now)
    except ValueError as error:
        return {"id": row.get("id") if isinstance(row, dict) else None, "error": str(error)}
    verdict, words = None, ""
    if failure is not None:
        decision = conclude(active.policy, failure)
        verdict = decision.verdict
        words = redacted(said(decision.reading).message[:ERROR_LIMIT])
    connection = active.routes.connection(identity.connection)
    limits = active.routes.limits(connection, identity.auth)
    permit = row.get("permit")
    trials: tuple[Trial, ...] = ()
    if isinstance(permit, str):
        trials = tuple(one.trial for one in cell.permits.pop(permit, ()) if one.trial is not None)
    changes = cell.state.report(
        Outcome(
            identity=identity,
            limits=limits,
            started=min(started, now),
            now=now,
            draw=draw,
            policy=active.policy,
            verdict=verdict,
            ok=ok,
            trials=trials,
            owner=permit if isinstance(permit, str) else "",
            error=words,
        )
    )
    return {
        "id": None if row.get("id") is None else str(row["id"]),
        "verdict": None if verdict is None else verdict.to_json(),
        "changes": [one.to_json() | {"durable": cell.state.durable(one.kind, one.key)} for one in changes],
        "generation": active.generation,
    }


async def _gated(cell: Cell, row: Any, now: float) -> dict[str, Any]:
    active = cell.active
    try:
        identity = _identity(active, row)
    except ValueError as error:
        return {"open": False, "error": str(error)}
    connection = active.routes.connection(identity.connection)
    view = cell.state.view(identity, active.routes.limits(connection, identity.auth), now)
    exclusion, permit = view.exclusion, None
    if exclusion is None and connection is not None:
        exclusion = cut_off(active.routes.target(connection, identity.model), now)
    if exclusion is None and view.trials and row.get("claim") is True:
        permit = f"gate-{secrets.token_hex(8)}"
        exclusion = await claimed(cell.state, view.trials, permit, now)
        if exclusion is None:
            cell.state.tried(view.trials, now)
            cell.permit(permit, view.trials)
    return {
        **{name: getattr(identity, name) for name in ("provider", "connection", "model")},
        "open": exclusion is None,
        "reason": None if exclusion is None else exclusion.word,
        "seconds": _seconds(exclusion, now),
        "degraded": view.degraded,
        "trial": exclusion is None and bool(view.trials),
        "permit": permit if exclusion is None else None,
    }


def _seconds(exclusion: Exclusion | None, now: float) -> float | None:
    lock = exclusion.lock if exclusion is not None else None
    return None if lock is None or lock.until is None else round(max(0.0, lock.until - now), 3)


def _identity(active: Active, row: Any) -> Identity:
    """Who was, or would be, asked; a configured connection is known by its name. Raises ValueError."""
    if not isinstance(row, Mapping):
        raise ValueError("expected a JSON object")
    texts = {name: row.get(name) for name in ("provider", "connection", "model", "host", "egress")}
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise ValueError(f"`{name}`: expected text, found `{value}`")
    texts = {name: value and cleaned(value) for name, value in texts.items()}
    found = active.routes.connection(texts["connection"] or "")
    if found is not None:
        return active.routes.target(found, texts["model"] or "").identity
    if not texts["provider"] or not texts["connection"]:
        # without an identity there would be one state for all
        raise ValueError("`provider` and `connection`: both are needed where the connection is not configured")
    provider = active.policy.provider(texts["provider"])
    auth = row.get("auth")
    return Identity(
        provider=provider.name,
        connection=texts["connection"],
        model=texts["model"] or "",
        host=texts["host"] or "",
        egress=texts["egress"],
        group=provider.family,
        family=family(provider, texts["model"] or ""),
        auth=auth if isinstance(auth, str) else provider.auth,
        external=True,
    )


def _bound(identity: Identity) -> dict[str, Any]:
    return {
        "provider": identity.provider,
        "connection": identity.connection,
        "model": identity.model or None,
        "host": identity.host or None,
        "egress": identity.egress,
        "auth": identity.auth,
    }
