"""FW111: a named list that nothing names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from faultwise.dsl.nodes import ListName
from faultwise.engine.problem import Problem

from .catalogue import Catalogue
from .conditions import walk

CODE = "FW111"


def check(written: Catalogue) -> Iterator[Problem]:
    """Such a list looks as if it mattered."""
    used = set(_used(written))
    for parsed in written.of_kind("policy"):
        for name in parsed.data.get("markers") or {}:
            if name.removeprefix("+") not in used:
                line, column = parsed.document.at(("markers", name), key=True)
                hint = f"name it as `@{name.removeprefix('+')}` in a rule, or remove it"
                yield Problem(parsed.name, line, column, CODE, f"no rule uses the list `{name}`", hint, "warning")


def _used(written: Catalogue) -> Iterator[str]:
    for rule in written.rules:
        for key in ("any", "all", "none"):
            yield from _named(rule.data.get(key, ()))
        for node in (*rule.conditions.nodes, *rule.conditions.waits):
            yield from (part.name for part in walk(node) if isinstance(part, ListName))
    for parsed in written.of_kind("policy"):
        for row in (parsed.data.get("terminals") or {}).values():
            yield from _named((*row.get("codes", ()), *row.get("+codes", ())))


def _named(value: Any) -> Iterator[str]:
    for marker in (value,) if isinstance(value, str) else value:
        if marker.startswith("@"):
            yield marker[1:]
