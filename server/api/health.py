"""`/healthz`, `/readyz`, and the state at a glance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from faultwise.engine.state.lock import MODEL_SCOPES, Lock
from faultwise.server.cell import Cell
from faultwise.server.proxy.access import admin
from faultwise.server.proxy.cutoff import cut_off

from .answer import Json


def router(cell: Cell, token: str, clock: Callable[[], float]) -> APIRouter:
    """The routes of probes and of the state at a glance."""
    routes = APIRouter()

    @routes.get("/healthz")
    async def alive() -> Response:
        """200 while the process answers."""
        return Json({"status": "ok"})

    @routes.get("/readyz")
    async def ready() -> Response:
        """200 while requests are welcome, 503 once the server is going down. A refused policy leaves it ready."""
        state = {
            "status": "draining" if cell.draining else "ready",
            "generation": cell.active.generation,
            "policy_error": None if cell.refusal is None else str(cell.refusal.problems[0]).splitlines()[0],
            "store": cell.state.store.health().status,
        }
        return Json(state, 503 if cell.draining else 200)

    @routes.get("/api/monitoring/health")
    async def health(request: Request) -> Response:
        """What is closed and why, the soonest end first; breakers, gates, the store and the policy."""
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])
        return Json(glance(cell, clock()))

    return routes


def glance(cell: Cell, now: float) -> dict[str, Any]:
    """The state as the management API shows it. Never a secret."""
    cell.settle(now)
    active = cell.locks.active(now)
    circuits = sorted(cell.state.circuits.table, key=lambda one: (one.calm, one.key))
    gates = sorted((one for one in cell.state.gates.table if not one.calm), key=lambda one: one.until)
    return {
        "status": "draining" if cell.draining else "ok",
        "now": now,
        "generation": cell.active.generation,
        "policy": {
            "generation": cell.active.generation,
            "digest": cell.active.policy.digest,
            "refused": cell.refusal is not None,
        },
        "store": cell.state.store.health().to_json() | {"durable": cell.state.store.durable},
        "breakers": [one.to_json() | {"durable": cell.state.durable("breaker", one.key)} for one in circuits],
        "gates": [one.to_json() for one in gates],
        "quotas": [*quotas(cell, now)],
        "connections": [shown(cell, one) for one in active if one.scope not in MODEL_SCOPES],
        "lockouts": [shown(cell, one) for one in active if one.scope in MODEL_SCOPES],
    }


def quotas(cell: Cell, now: float) -> Iterator[dict[str, Any]]:
    """What the answers of each connection said, in this process, about what is left of its quotas."""
    routes = cell.active.routes
    for id, quota in routes.quotas.items():
        connection = cell.active.settings.connections[id]
        for model, at, windows in quota.told():
            exclusion = cut_off(routes.target(connection, model), now)
            yield {
                "connection": id,
                "provider": cell.active.policy.provider(connection.provider).name,
                "model": model,
                "at": at,
                "windows": [
                    {
                        "name": one.name,
                        "left": round(one.remaining(now), 4),
                        "resets_at": one.reset,
                        "length": one.length,
                    }
                    for one in windows
                ],
                "cut_off_until": None if exclusion is None or exclusion.lock is None else exclusion.lock.until,
            }


def shown(cell: Cell, lock: Lock) -> dict[str, Any]:
    """One lock, and whether a crash would leave it."""
    return lock.to_json() | {"durable": cell.state.durable("lock", lock.key)}
