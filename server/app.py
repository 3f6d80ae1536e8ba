"""Everything wired into one FastAPI application."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from .api import decisions, health, journal, metrics, pointer, policy, report, resilience, rules
from .api.problem import http_error, refused, unexpected
from .cell import Cell
from .loading import Loader
from .observer import Observer
from .proxy.app import Models, Proxy
from .proxy.body import Gone
from .proxy.endpoint import ENDPOINTS
from .proxy.request import Refused
from .proxy.transport import Make
from .proxy.upstream import Upstreams
from .reload import Reloader
from .siblings import Siblings
from .watch import watch


def create_app(
    cell: Cell,
    *,
    loader: Loader | None = None,
    clock: Callable[[], float] = time.time,
    draw: Callable[[], float] = random.random,
    transport: Make | None = None,
    token: str | None = None,
    follow: bool = True,
    siblings: Siblings | None = None,
) -> FastAPI:
    """The server around a cell.

    `loader`: where changes come from; without one nothing is reloaded. `follow`: watch its files. `transport` builds the
    client of an upstream host. `token`: the admin token, by default `FAULTWISE_ADMIN_TOKEN`. `siblings`: the other
    workers of the server.
    """
    upstreams = Upstreams(transport)
    reloader = Reloader(cell, loader, clock) if loader is not None else None
    observer = Observer(cell, clock, reloader)
    admin = os.environ.get("FAULTWISE_ADMIN_TOKEN", "") if token is None else token

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        observer.journal.start()
        tasks = [asyncio.create_task(watch(cell.state.store))]
        if reloader is not None and follow:
            tasks.append(asyncio.create_task(reloader.follow()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await upstreams.aclose()
            await asyncio.to_thread(observer.journal.close)

    app = FastAPI(
        title="Faultwise",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        # not ours: what is measured is said in one place, by us
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        exception_handlers={HTTPException: http_error, Refused: refused, Gone: _gone, Exception: unexpected},
    )
    app.state.reloader = reloader
    routes = [
        Route(endpoint.path, Proxy(endpoint, cell, upstreams, clock, draw, observer, admin), methods=["POST"])
        for endpoint in ENDPOINTS
    ]
    # before everything else: the paths that are asked most are tried first
    app.router.routes[:0] = [*routes, Route("/v1/models", Models(cell), methods=["GET"])]
    app.include_router(pointer.router())
    app.include_router(decisions.router(cell, clock))
    app.include_router(policy.router(cell, reloader, admin, siblings))
    app.include_router(rules.router(cell, observer.hits, admin))
    app.include_router(journal.router(cell, observer.journal.recent, admin, clock))
    app.include_router(metrics.router(cell, observer.registry, admin, siblings))
    app.include_router(health.router(cell, admin, clock))
    app.include_router(resilience.router(cell, admin, clock))
    app.include_router(report.router(cell, admin, clock, draw))
    return app


async def _gone(_: object, __: Exception) -> Response:
    return Response(status_code=499)
