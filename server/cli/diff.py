"""`faultwise diff`: what changed between two sets of rules, and which recorded decisions change with it."""

from __future__ import annotations

import argparse
import json
import os
import sys

from faultwise.engine.history.change import Tally
from faultwise.engine.history.difference import Difference, differences
from faultwise.engine.policy.source import Sources, collect
from faultwise.engine.problem import PolicyError

from . import FINDINGS, FINE, USAGE
from .output import report
from .replay import log_arguments, summary, through
from .sources import compiled


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    what = f"a file or directory, or several joined by `{os.pathsep}`, later over earlier"
    parser.add_argument("old", metavar="OLD", help=what)
    parser.add_argument("new", metavar="NEW", help="the same, after the change")
    parser.add_argument("--log", metavar="FILE", help="recorded failures: which decisions change")
    parser.add_argument(
        "--no-shipped", action="store_true", help="do not lay OLD and NEW over the shipped catalogue: they are whole"
    )
    log_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print what differs; 1 where anything does."""
    try:
        old, new = (_set(paths, not options.no_shipped) for paths in (options.old, options.new))
        found = differences(old, new)
        if options.format == "text":
            print("\n".join(map(str, found)) or "the rules are the same")
        tally = through(options, options.log, new, old) if options.log else None
    except PolicyError as error:
        report(error.problems)
        return USAGE  # nothing was compared
    except OSError as error:
        print(f"faultwise diff: {options.log}: {error.strerror}", file=sys.stderr)
        return USAGE
    _show(found, tally, options.format)
    return FINDINGS if found or (tally is not None and tally.changed) else FINE


def _set(paths: str, shipped: bool) -> Sources:
    """One side, once it is known to load."""
    made = collect([path for path in paths.split(os.pathsep) if path], shipped=shipped)
    compiled(made)
    return made


def _show(found: tuple[Difference, ...], tally: Tally | None, form: str) -> None:
    if form == "json":
        rules = [{"entry": one.entry, "what": one.what, "keys": one.keys} for one in found]
        decisions = tally.to_json() if tally is not None else None
        print(json.dumps({"rules": rules, "decisions": decisions}, ensure_ascii=False))
    elif tally is not None:
        print("\n" + "\n".join(summary(tally)))
