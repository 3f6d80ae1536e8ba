"""Errors outside the proxied paths: `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from faultwise.engine.problem import Problem
from faultwise.server.proxy.endpoint import ENDPOINTS
from faultwise.server.proxy.request import Refused

PATHS = ("/v1/models", *(endpoint.path for endpoint in ENDPOINTS))
PATH_LIMIT = 200  # characters of a path that are told, and looked at
ALIKE = 0.75


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """An error answer; `more` are extension members."""
    title = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Error"
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
    content = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, dict(headers or {}), media_type="application/problem+json")


def listed(problems: tuple[Problem, ...]) -> list[dict[str, Any]]:
    """Problems of files as JSON-ready data."""
    return [asdict(one) for one in problems]


async def refused(_: Request, error: Exception) -> Response:
    """A request that was refused."""
    assert isinstance(error, Refused), "registered for this exception only"
    return problem(error.status, error.message, code=error.code)


async def http_error(request: Request, error: Exception) -> Response:
    """A path or method that does not exist."""
    assert isinstance(error, HTTPException), "registered for this exception only"
    asked = request.url.path[:PATH_LIMIT]
    if error.status_code == 404:
        return problem(404, f"there is nothing at `{asked}`; {_nearest(asked)}", error.headers)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow")
        return problem(405, f"`{asked}` takes {allowed or 'other methods'}, not {request.method}", error.headers)
    return problem(error.status_code, str(error.detail), error.headers)


def _nearest(asked: str) -> str:
    """Where the caller may have wanted to go: a base URL with or without its version is the usual slip."""
    near = get_close_matches(asked, PATHS, 1, ALIKE)
    return f"did you mean `{near[0]}`?" if near else "`GET /` says where to look"


async def unexpected(_: Request, __: Exception) -> Response:
    """A fault of ours; the log has it."""
    return problem(500, "the server failed on this request; its log says more")
