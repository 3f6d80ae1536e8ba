"""`faultwise replay`: recorded failures, decided again with the rules of now."""

from __future__ import annotations

import argparse
import json
import sys
import time

from faultwise.engine.history.change import Tally
from faultwise.engine.history.replay import Part, replay
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.problem import PolicyError

from . import FINDINGS, FINE, USAGE, lines
from .output import report
from .pool import spread
from .progress import Progress
from .sources import compiled, source_arguments, sources

UNREADABLE_SHOWN = 10


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("log", metavar="LOG", help="recorded failures, one JSON object a line; - is standard input")
    log_arguments(parser)
    source_arguments(parser)


def log_arguments(parser: argparse.ArgumentParser) -> None:
    """How what changed in a log is shown, the same for `replay` and `diff`."""
    parser.add_argument("--rows", action="store_true", help="print each failure whose decision changed")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--jobs", type=int, default=0, metavar="N", help="processes to use (default: one a core)")


def run(options: argparse.Namespace) -> int:
    """Print what changed; 1 where a line could not be read."""
    try:
        rules = sources(options)
        compiled(rules)
        tally = through(options, options.log, rules)
    except PolicyError as error:
        report(error.problems)
        return FINDINGS
    except OSError as error:
        print(f"faultwise replay: {options.log}: {error.strerror}", file=sys.stderr)
        return USAGE
    if options.format == "json":
        print(json.dumps(tally.to_json(), ensure_ascii=False))
    else:
        print("\n".join(summary(tally)))
    return FINDINGS if tally.unreadable else FINE


def through(options: argparse.Namespace, log: str, new: Sources, old: Sources | None = None) -> Tally:
    """Decide a whole log, printing rows where they are asked for. Raises OSError."""
    total = Tally()
    with lines.opened(log) as file, Progress("deciding", lines.size(log)) as progress:
        work = lines.parts(file, progress.advance)
        for part in spread(_work, work, _setup, (new, old, time.time()), options.jobs):
            shown = min(total.unreadable, UNREADABLE_SHOWN)
            for recorded in part.unreadable[: UNREADABLE_SHOWN - shown]:
                print(f"{log}:{recorded.number}: cannot be read: {recorded.error}", file=sys.stderr)
            for found in part.changes if options.rows else ():
                print(json.dumps(found.to_json(), ensure_ascii=False) if options.format == "json" else found)
            total.add(part.tally)
    return total


def summary(tally: Tally) -> list[str]:
    """What changed, in lines to read."""
    data = tally.to_json()
    head = [f"{tally.lines} failures, {tally.compared} compared, {tally.changed} decided differently"]
    head += [f"{tally.unreadable} lines could not be read"] if tally.unreadable else []
    if not tally.compared:
        head.append("no line has a recorded `verdict` to compare with; by reason they are now")
        return head + [f"  {count:7}  {name}" for name, count in data["reasons"].items()]
    rows = [f"  {row['count']:7}  {row['field']:<12} {row['before']} -> {row['after']}" for row in data["by_field"]]
    return head + rows


_now = 0.0
_policies: tuple[Policy, Policy | None] | None = None


def _setup(new: Sources, old: Sources | None, now: float) -> None:
    """Compile the policies once in each process: compiled rules cannot be sent to another."""
    global _policies, _now
    _policies = compiled(new), compiled(old) if old is not None else None
    _now = now


def _work(part: lines.Part) -> Part:
    assert _policies is not None, "`spread` sets up first"
    new, old = _policies
    return replay(new, part, _now, old)
