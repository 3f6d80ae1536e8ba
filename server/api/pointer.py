"""`GET /`: what this is, and where to look next."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from faultwise import __version__

from .answer import Json

PATHS = {
    "proxy": "/v1",
    "models": "/v1/models",
    "health": "/healthz",
    "ready": "/readyz",
    "state": "/api/monitoring/health",
    "policy": "/api/policy",
    "decisions": "/api/decisions",
    "metrics": "/metrics",
}
DOCS = ("docs/README.md", "docs/gateway.md", "docs/operations.md")  # of the sources


def router() -> APIRouter:
    """The route of the root."""
    routes = APIRouter()

    @routes.get("/")
    async def pointer() -> Response:
        """For people who open the address in a browser, and for probes that ask the root."""
        return Json({"name": "faultwise", "version": __version__, "paths": PATHS, "docs": DOCS})

    return routes
