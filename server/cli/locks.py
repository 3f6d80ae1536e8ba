"""`faultwise locks`: what is closed, why, and until when."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from . import FINE
from .reach import Unreachable, complain, reach, reach_arguments

FORMATS = ("text", "json")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    reach_arguments(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="how it is printed (default: text)")


def run(options: argparse.Namespace) -> int:
    """List; 2 where there is nothing to ask."""
    try:
        with reach(options) as state:
            health = state.health()
    except Unreachable as error:
        return complain(error)
    if options.format == "json":
        print(json.dumps(health, ensure_ascii=False))
        return FINE
    rows = list(_rows(health, time.time()))
    for row in rows:
        print("  ".join(row))
    if not rows:
        print("nothing is closed")
    return FINE


def _rows(health: Mapping[str, Any], now: float) -> Iterator[tuple[str, ...]]:
    for one in health["breakers"]:
        if one["state"] != "CLOSED":
            end = _end(one["until"] if one["state"] == "OPEN" else None, now)
            yield f"{one['state'].lower():<10}", f"{one['key']:<40}", f"{end:<22}", one["reason"] or "-"
    for one in (*health["gates"], *health["connections"], *health["lockouts"]):
        word = one.get("terminal") or ("held" if str(one["key"]).startswith("hold:") else "closed")
        yield (
            f"{word:<10}",
            f"{one['key']:<40}",
            f"{_end(one['until'], now):<22}",
            f"{one['reason']} {one['rule'] or ''}".strip(),
        )


def _end(until: float | None, now: float) -> str:
    if until is None:
        return "-"
    left = max(0, round(until - now))
    return f"{datetime.fromtimestamp(until):%m-%d %H:%M:%S} ({left} s)"
