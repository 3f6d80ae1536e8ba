"""`faultwise reset`: open what is closed by hand, terminal states included."""

from __future__ import annotations

import argparse
import sys

from . import FINE, USAGE
from .reach import Unreachable, complain, reach, reach_arguments


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("--all", action="store_true", help="everything")
    parser.add_argument("--provider", help="what belongs to a provider")
    parser.add_argument("--connection", help="what belongs to a connection")
    parser.add_argument("--model", help="what belongs to a model")
    reach_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Reset, and name what was; 2 where nothing is named or there is nothing to ask."""
    wanted = {name: getattr(options, name) for name in ("provider", "connection", "model")}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if bool(wanted) == options.all:
        print("faultwise: name --provider, --connection or --model, or say --all", file=sys.stderr)
        return USAGE
    try:
        with reach(options) as state:
            cleared = state.reset(wanted)
    except Unreachable as error:
        return complain(error)
    for key in cleared:
        print(key)
    print(f"{len(cleared)} cleared", file=sys.stderr)
    return FINE
