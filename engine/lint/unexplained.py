"""FW114: a rule that does not say why."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW114"


def check(written: Catalogue) -> Iterator[Problem]:
    """Who is on call at night reads `why` first."""
    for rule in written.rules:
        if not str(rule.data.get("why", "")).strip():
            yield rule.warning(("id",), CODE, f"`{rule.id}` does not say why", "add `why:` with a sentence")
