"""FW101: a shipped provider rule that waits for prose it is never shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from faultwise.engine.problem import Problem

from .catalogue import Catalogue, Written

CODE = "FW101"
_CODE_LIKE = re.compile(r"[\w.:/#-]+")


def check(written: Catalogue) -> Iterator[Problem]:
    """Off `full_text`, such a rule sees codes and types only: a phrase neither fires nor vetoes it."""
    allowed = written.policy.allowlists.full_text
    for rule in written.rules:
        if rule.layer != "shipped-provider" or not _names(rule).isdisjoint(allowed):
            continue
        hint = f"add `{rule.provider}` to `allowlists.full_text`, or look for a code"
        if any(_prose(group) for group in rule.conditions.groups):
            yield rule.error((), CODE, f"`{rule.id}` never fires: shipped rules of this provider see no prose", hint)
        elif rule.conditions.vetoes and _prose(rule.conditions.vetoes):
            yield rule.error(
                (), CODE, f"the veto of `{rule.id}` never holds: shipped rules of this provider see no prose", hint
            )


def _names(rule: Written) -> set[str]:
    return {"*", str(rule.provider), str(rule.entry.parsed.data["provider"]).lower()}


def _prose(markers: Iterable[str]) -> bool:
    """Whether none of the markers could be a code or a type."""
    return not any(_CODE_LIKE.fullmatch(marker) and marker.isascii() for marker in markers)
