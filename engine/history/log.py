"""One line of a log of failures: a failure, and the verdict that was recorded with it.

A line is what `classify --jsonl` reads, with an optional `verdict`; or an object with `failure` and `verdict`. Where a
failure names no `now`, the line's `time` counts. A line whose `event` is `outcome` says what became of a request: it
holds no failure, and is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from faultwise.engine.failure.intake import instant, intake
from faultwise.engine.failure.record import Failure


@dataclass(frozen=True, slots=True)
class Recorded:
    """A line that was read: a failure, or what is wrong with the line. Lines count from 1."""

    number: int
    failure: Failure | None
    verdict: Mapping[str, Any] | None = None
    error: str = ""
    outcome: bool = False  # of a request: there is nothing to decide


def is_outcome(row: Any) -> bool:
    """Whether a row says what became of a request, and not what failed."""
    return isinstance(row, Mapping) and row.get("event") == "outcome"


def read(line: bytes, number: int, now: float) -> Recorded:
    """The failure on a line. Never raises: a line that cannot be read says why. `now` counts where no time is said."""
    try:
        row = json.loads(line)
        if not isinstance(row, Mapping):
            raise ValueError("expected a JSON object")
        if is_outcome(row):
            return Recorded(number, None, outcome=True)
        verdict = row.get("verdict")
        if verdict is not None and not isinstance(verdict, Mapping):
            raise ValueError("`verdict`: expected an object")
        described = row.get("failure", row)
        when = instant(row["time"]) if row.get("time") is not None else now
        return Recorded(number, intake(described, when), verdict)
    except (ValueError, RecursionError) as error:
        return Recorded(number, None, None, str(error))
