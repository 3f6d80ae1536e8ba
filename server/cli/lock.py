"""`faultwise lock connection X --until 18:00`: close a connection by hand. Requests under way finish."""

from __future__ import annotations

import argparse
import re
import sys
import time
from datetime import datetime, timedelta

from faultwise.dsl import duration
from faultwise.engine.failure.intake import instant

from . import FINE, USAGE
from .reach import Unreachable, complain, reach, reach_arguments

_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("what", choices=("connection",), help="what is closed")
    parser.add_argument("name", help="its name in the gateway file")
    parser.add_argument("--until", help="18:00 (local time), 2h, or an RFC 3339 time (default: until it is reset)")
    reach_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Close it; 2 where the time cannot be read or there is nothing to ask."""
    try:
        until = None if options.until is None else end(options.until, time.time())
    except ValueError as error:
        print(f"faultwise: --until: {error}", file=sys.stderr)
        return USAGE
    try:
        with reach(options) as state:
            held = state.lock(options.name, until)
    except Unreachable as error:
        return complain(error)
    told = "it is reset" if held["until"] is None else f"{datetime.fromtimestamp(held['until']):%Y-%m-%d %H:%M:%S}"
    print(f"{options.name} is closed until {told}")
    return FINE


def end(text: str, now: float) -> float:
    """When a time of day comes next, a duration is over, or an instant is. Raises ValueError."""
    if found := _TIME.fullmatch(text):
        today = datetime.fromtimestamp(now)
        at = today.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
        return (at if at > today else at + timedelta(days=1)).timestamp()
    try:
        return now + duration(text)
    except ValueError:
        pass
    try:
        return instant(text)
    except ValueError:
        raise ValueError(f"`{text}` is not a time such as 18:00, 2h or 2026-01-31T18:00:00Z") from None
