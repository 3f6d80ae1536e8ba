"""`/metrics`, for Prometheus."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics
from starlette.requests import Request
from starlette.responses import Response

from faultwise.server.cell import Cell
from faultwise.server.gathered import Gathered
from faultwise.server.proxy.access import admin
from faultwise.server.siblings import MARK, Siblings

OPEN = "application/openmetrics-text; version=1.0.0"


def router(cell: Cell, registry: CollectorRegistry, token: str, siblings: Siblings | None = None) -> APIRouter:
    """The route of the metrics."""
    routes = APIRouter()

    @routes.get("/metrics")
    async def metrics(request: Request) -> Response:
        """Every metric, as text or OpenMetrics, whichever the scraper asks for; of all workers together."""
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        if siblings is None or MARK in request.headers:
            return Response(encode(registry), headers={"content-type": content_type})
        asked = await siblings.ask("GET", "/metrics", token, {"accept": OPEN})
        told = [one.text for one in asked.values() if one is not None and one.status_code == 200]
        own = openmetrics(registry).decode()  # type: ignore[no-untyped-call]  # the library's
        gathered = Gathered((own, *told))
        return Response(await asyncio.to_thread(encode, gathered), headers={"content-type": content_type})

    return routes
