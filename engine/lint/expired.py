"""FW112: a rule whose day has passed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW112"


def check(written: Catalogue) -> Iterator[Problem]:
    """It no longer counts, and hides that what it was for may still happen."""
    for rule in written.rules:
        day = rule.data.get("expires")
        if day is not None and datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() <= written.now:
            message = f"`{rule.id}` expired on {day}"
            yield rule.warning(("expires",), CODE, message, "remove the rule, or give it a later day")
