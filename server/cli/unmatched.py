"""`faultwise unmatched`: failures that no rule knows, gathered, with a rule to begin with for each."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable

from faultwise.engine.history.replay import readable
from faultwise.engine.history.starter import starters
from faultwise.engine.history.unmatched import Look, Unmatched
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.problem import PolicyError
from faultwise.engine.verdict.decide import conclude

from . import FINDINGS, FINE, USAGE, lines
from .output import report
from .pool import spread
from .progress import Progress
from .sources import compiled, source_arguments, sources


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("log", metavar="LOG", help="recorded failures, one JSON object a line; - is standard input")
    parser.add_argument("--min", type=int, default=1, metavar="N", help="leave out what was seen fewer times")
    parser.add_argument("--provider", metavar="NAME", help="of one provider only: its rules are one file to save")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--jobs", type=int, default=0, metavar="N", help="processes to use (default: one a core)")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """The groups as comments and starter rules as YAML on stdout; 1 where a line could not be read."""
    try:
        # an empty file is the one that the shell made for what is printed here
        rules = Sources(tuple(file for file in sources(options).files if file.data))
        compiled(rules)
        found, read, unreadable = _gather(options, rules)
    except PolicyError as error:
        report(error.problems)
        return FINDINGS
    except OSError as error:
        print(f"faultwise unmatched: {options.log}: {error.strerror}", file=sys.stderr)
        return USAGE
    wanted = options.provider.lower() if options.provider is not None else None
    groups = [(look, count) for look, count in found.ranked(options.min) if wanted in (None, look.provider)]
    if options.format == "json":
        print(json.dumps([_row(look, count, found.first[look]) for look, count in groups], ensure_ascii=False))
    else:
        kinds = len(found.counts)
        note = f", {found.overflow} in further groups" if found.overflow else ""
        print(f"# {found.failures} of {read} failures no rule knows, {kinds} kind{'s' * (kinds != 1)}{note}")
        print("\n".join(_table(groups)))
        if groups:
            print(f"\n{starters(groups)}", end="")
    if unreadable:
        print(f"{unreadable} lines could not be read", file=sys.stderr)
    return FINDINGS if unreadable else FINE


def _gather(options: argparse.Namespace, rules: Sources) -> tuple[Unmatched, int, int]:
    found, read, unreadable = Unmatched(), 0, 0
    with lines.opened(options.log) as file, Progress("deciding", lines.size(options.log)) as progress:
        work = lines.parts(file, progress.advance)
        for part, fine, broken in spread(_work, work, _setup, (rules, time.time()), options.jobs):
            found.add(part)
            read += fine
            unreadable += broken
    return found, read, unreadable


def _table(groups: Iterable[tuple[Look, int]]) -> Iterable[str]:
    for look, count in groups:
        what = ", ".join((*look.code, *look.type)) or "-"
        yield f"# {count:6}  {look.provider or '-'}  {look.status}  {what}  {look.message or '-'}"


def _row(look: Look, count: int, line: int) -> dict[str, object]:
    names = ("digest", "provider", "status", "code", "type", "message", "reason")
    own = {name: getattr(look, name) for name in names}
    return {"count": count, "first_line": line, **own, "starter": starters([(look, count)])}


_now = 0.0
_policy: Policy | None = None


def _setup(rules: Sources, now: float) -> None:
    """Compile the policy once in each process: compiled rules cannot be sent to another."""
    global _policy, _now
    _policy, _now = compiled(rules), now


def _work(part: lines.Part) -> tuple[Unmatched, int, int]:
    assert _policy is not None, "`spread` sets up first"
    found, read, unreadable = Unmatched(), 0, 0
    for recorded in readable(part, _now):
        if recorded.failure is None:
            unreadable += 1
        else:
            read += 1
            found.note(conclude(_policy, recorded.failure), recorded.number)
    return found, read, unreadable
