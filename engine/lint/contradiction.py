"""FW106: conditions that cannot hold together."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise import dsl
from faultwise.dsl.nodes import Compare, Name, Node, Not, Number
from faultwise.engine.problem import Problem

from .catalogue import Catalogue, Written

CODE = "FW106"


def check(written: Catalogue) -> Iterator[Problem]:
    """A rule with such conditions never matches."""
    for rule in written.rules:
        for why in _reasons(rule):
            yield rule.error(("id",), CODE, f"`{rule.id}` never matches: {why}")
            break


def _reasons(rule: Written) -> Iterator[str]:
    found = rule.conditions
    for group in found.groups:
        vetoed = {marker: veto for marker in group for veto in found.vetoes if veto in marker}
        if len(vetoed) == len(group):
            marker, veto = min(vetoed.items())
            yield f"the text must hold `{marker}` and must not hold `{veto}`"
    for node in found.nodes:
        if isinstance(node, Not) and node.condition in found.nodes:
            yield f"`{dsl.source(node.condition)}` and its opposite must both hold"
        status = _status(node)
        if status is not None and status not in rule.statuses:
            yield f"`{dsl.source(node)}` is not among the statuses it speaks about"


def _status(node: Node) -> int | float | None:
    """The status that a condition demands."""
    match node:
        case Compare("==", Name("status"), Number(value)) | Compare("==", Number(value), Name("status")):
            return value
    return None
