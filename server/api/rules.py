"""`GET /api/policy/rules`: every rule of the policy in use, where it stands, how often it decided and when last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from faultwise.engine.policy.model import Restatement, Rule
from faultwise.engine.policy.policy import Policy
from faultwise.server.cell import Cell
from faultwise.server.hits import Hits
from faultwise.server.proxy.access import admin

from .answer import Json

GENERAL = "general"  # the rules that are tried for every provider


def router(cell: Cell, hits: Hits, token: str) -> APIRouter:
    """The route of the rules."""
    routes = APIRouter()

    @routes.get("/api/policy/rules")
    async def rules(request: Request) -> Response:
        """By provider, in the order they are tried: restatements, rules; then the general ones and status defaults."""
        admin(tuple(request.headers.raw), token, cell.active.settings.address[0])
        active = cell.active
        wanted = request.query_params.get("provider")
        found = {
            name: rows
            for name, rows in _by_provider(active.policy, hits)
            if wanted is None or wanted.lower() == name.lower()
        }
        return Json({"generation": active.generation, "digest": active.policy.digest, "providers": found})

    return routes


def _by_provider(policy: Policy, hits: Hits) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    named = {provider.name: provider for provider in policy.providers.values()}
    for name, provider in sorted(named.items()):
        yield name, [*(_row(one, hits) for one in provider.restatements), *(_row(one, hits) for one in provider.rules)]
    defaults = {rule.id: rule for rule in policy.defaults.values()}
    yield GENERAL, [_row(one, hits) for one in (*policy.general, *defaults.values())]


def _row(rule: Rule | Restatement, hits: Hits) -> dict[str, Any]:
    origin = rule.origin
    own = (
        {"kind": "rule", "layer": rule.layer, "reason": rule.reason, "mode": rule.mode, "tags": list(rule.tags)}
        if isinstance(rule, Rule)
        else {"kind": "restatement", "to": rule.to}
    )
    return {
        "id": rule.id,
        **own,
        "why": rule.why,
        "see": list(rule.see),
        "file": origin.file,
        "line": origin.line,
        "shipped": origin.shipped,
        "hits": hits.counts.get(rule.id, 0),
        "last_fired": hits.last.get(rule.id),
    }
