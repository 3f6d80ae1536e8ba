"""FW108: a declared wait that is longer than its cap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from faultwise import dsl
from faultwise.dsl.nodes import Duration
from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW108"
KEYS = ("cooldown", "retry_after")


def check(written: Catalogue) -> Iterator[Problem]:
    """A rule's own cap cuts its wait; without one nothing does, so a wait beyond every cap is likely a slip."""
    longest = max(written.policy.caps.values(), default=float("inf"))
    for rule in written.rules:
        for key in KEYS:
            seconds = _literal(rule.data, key)
            own = rule.data.get("cap")
            if seconds is None:
                continue
            if own is not None and seconds > dsl.duration(own):
                message = f"`{key}: {rule.data[key]}` is longer than the rule's own `cap: {own}`"
                yield rule.warning((key,), CODE, message, "make them agree")
            elif own is None and seconds > longest:
                message = f"`{key}: {rule.data[key]}` is longer than any wait the policy's `caps` allow"
                yield rule.warning((key,), CODE, message, "write a shorter wait, or a `cap` to say that it is meant")


def _literal(data: Mapping[str, Any], key: str) -> float | None:
    """The seconds of a wait that is written out; None for an expression and for none."""
    node = dsl.parse(data[key]) if key in data else None
    return node.seconds if isinstance(node, Duration) else None
