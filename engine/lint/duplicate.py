"""FW110: two rules that go by one id."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise.engine.problem import Problem

from .catalogue import Catalogue, Written

CODE = "FW110"


def check(written: Catalogue) -> Iterator[Problem]:
    """An id replaces a rule of the same provider only; elsewhere it makes two rules that no log can tell apart."""
    seen: dict[str, Written] = {}
    for rule in written.rules:
        first = seen.setdefault(rule.id, rule)
        if first is not rule:
            message = f"`{rule.id}` is also the id of {'a restatement' if first.restates else 'a rule'} at {first.entry.origin}"
            yield rule.error(("id",), CODE, message, "a rule is replaced only within its provider; choose another id")
