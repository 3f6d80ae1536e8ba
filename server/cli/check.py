"""`faultwise check`: is every rule file right?"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from faultwise.engine.lint import lint
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import SourceFile
from faultwise.engine.policy.yaml import read
from faultwise.engine.problem import PolicyError, Problem
from faultwise.server.layers import PREFIX
from faultwise.server.placeholders import replaced
from faultwise.server.settings import settings

from . import FINDINGS, FINE
from .output import FORMATS, report
from .sources import Named, compiled, here, meant, named, source_arguments

PLACEHOLDER = re.compile(rb"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
UNSET = "FW060"  # a variable or file of the machine that serves: not a mistake of the file, however strict one is


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files or directories, laid over the shipped catalogue; findings are limited to them"
        " (default: gateway.yaml here, and all rules)",
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--strict", action="store_true", help="warnings fail too")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Report every problem at once; 1 where there is an error."""
    policy: Policy | None = None
    try:
        given = named(options, options.paths, cases=not options.paths)
    except PolicyError as error:
        report(error.problems, options.format)
        return FINDINGS
    gateways = given.gateways if options.paths else here()
    problems = [problem for file in gateways for problem in _gateway(file)]
    try:
        policy = compiled(given.rules)
        problems += _lint(given, policy, bool(options.paths))
        problems += [problem for file in gateways for problem in _strangers(file, policy)]
    except PolicyError as error:
        problems += error.problems
    problems.sort()
    report(problems, options.format)
    errors = sum(problem.severity == "error" for problem in problems)
    if options.format == "text" and policy is not None and not errors:
        print(_summary(policy, len(gateways), len(problems)))
    counted = [problem for problem in problems if problem.code != UNSET]
    return FINDINGS if errors or (options.strict and counted) else FINE


def _lint(given: Named, policy: Policy, limited: bool) -> Iterator[Problem]:
    """What the linter finds; where paths were given, in the operator's files only."""
    own = {file.name for file in given.rules.files if not file.shipped}
    for problem in lint(given.rules, policy, time.time()):
        if not limited or problem.file in own:
            yield problem


def _gateway(file: SourceFile) -> tuple[Problem, ...]:
    """What is wrong with a gateway file; what only the machine that serves can know is a warning."""
    try:
        found = settings(Path(file.name), environ=_assumed(file)).warnings
    except PolicyError as error:
        found = error.problems
    document, _ = read(file.data, file.name)
    unset = replaced(document, os.environ)[1] if document is not None else ()
    every = dict.fromkeys((*found, *unset))
    return tuple(replace(problem, severity="warning") if problem.code == UNSET else problem for problem in every)


def _strangers(file: SourceFile, policy: Policy) -> Iterator[Problem]:
    """Providers of a gateway file that no rule file is about, where one that is about another is called nearly so."""
    document, _ = read(file.data, file.name)
    data = document.data if document is not None and isinstance(document.data, dict) else {}
    rows = data.get("connections")
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        name = row.get("provider") if isinstance(row, dict) else None
        if document is None or not isinstance(name, str) or "${" in name:
            continue
        if near := meant(name, policy):
            place = document.at(("connections", number, "provider"))
            message = f"no rule file is about the provider `{name}`: only the general rules serve it"
            yield Problem(file.name, *place, "FW071", message, f"did you mean `{near}`?", "warning")


def _assumed(file: SourceFile) -> dict[str, str]:
    """The environment, with something in every variable that a placeholder names: secrets are not set where CI runs."""
    named = (found.decode() for found in PLACEHOLDER.findall(file.data))
    missing = {name for name in named if not name.startswith(PREFIX)} - os.environ.keys()
    return {**os.environ, **{name: f"https://{name.lower()}.invalid" for name in missing}}


def _summary(policy: Policy, gateways: int, warnings: int) -> str:
    rules, cases = policy.counts()
    found = f"{warnings} warning{'s' * (warnings != 1)}" if warnings else "no problems"
    return f"{len(policy.files) + gateways} files, {rules} rules, {cases} cases: {found}"
