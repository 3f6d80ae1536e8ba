"""FW114: a rule, client or restatement that does not say why."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW114"
HINT = "add `why:` with a sentence"


def check(written: Catalogue) -> Iterator[Problem]:
    """Who is on call at night reads `why` first."""
    for rule in written.rules:
        if not str(rule.data.get("why", "")).strip():
            yield rule.warning(("id",), CODE, f"`{rule.id}` does not say why", HINT)
    for client in written.policy.clients:
        told = ((one.id, one.why, one.origin) for one in client.restatements)
        for id, why, origin in ((client.id, client.why, client.origin), *told):
            if not why.strip():
                place = origin.file, origin.line, origin.column
                yield Problem(*place, CODE, f"`{id}` does not say why", HINT, "warning")
