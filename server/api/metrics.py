"""`/metrics`, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import Response

from faultwise.server.cell import Cell
from faultwise.server.proxy.access import admin


def router(cell: Cell, registry: CollectorRegistry, token: str) -> APIRouter:
    """The route of the metrics."""
    routes = APIRouter()

    @routes.get("/metrics")
    async def metrics(request: Request) -> Response:
        """Every metric, as text or OpenMetrics, whichever the scraper asks for."""
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"content-type": content_type})

    return routes
