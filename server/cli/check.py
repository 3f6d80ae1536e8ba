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
from faultwise.engine.problem import PolicyError, Problem
from faultwise.server.layers import PREFIX
from faultwise.server.settings import settings

from . import FINDINGS, FINE
from .output import FORMATS, report
from .sources import Named, compiled, named, source_arguments

PLACEHOLDER = re.compile(rb"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
UNSET = "FW060"  # a variable or file of the machine that serves: not a mistake of the file


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files or directories, laid over the shipped catalogue; findings are limited to them",
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--strict", action="store_true", help="warnings fail too")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Report every problem at once; 1 where there is an error."""
    policy: Policy | None = None
    try:
        given = named(options, options.paths)
    except PolicyError as error:
        report(error.problems, options.format)
        return FINDINGS
    problems = [problem for file in given.gateways for problem in _gateway(file)]
    try:
        policy = compiled(given.rules)
        problems += _lint(given, policy, bool(options.paths))
    except PolicyError as error:
        problems += error.problems
    problems.sort()
    report(problems, options.format)
    errors = sum(problem.severity == "error" for problem in problems)
    if options.format == "text" and policy is not None and not errors:
        print(_summary(policy, len(given.gateways), len(problems)))
    return FINDINGS if errors or (options.strict and problems) else FINE


def _lint(given: Named, policy: Policy, limited: bool) -> Iterator[Problem]:
    """What the linter finds; where paths were given, in the operator's files only."""
    own = {file.name for file in given.rules.files if not file.shipped}
    for problem in lint(given.rules, policy, time.time()):
        if not limited or problem.file in own:
            yield problem


def _gateway(file: SourceFile) -> tuple[Problem, ...]:
    """What is wrong with a gateway file; what only the machine that serves can know is a warning."""
    try:
        return settings(Path(file.name), environ=_assumed(file)).warnings
    except PolicyError as error:
        return tuple(
            replace(problem, severity="warning") if problem.code == UNSET else problem for problem in error.problems
        )


def _assumed(file: SourceFile) -> dict[str, str]:
    """The environment, with something in every variable that a placeholder names: secrets are not set where CI runs."""
    named = (found.decode() for found in PLACEHOLDER.findall(file.data))
    missing = {name for name in named if not name.startswith(PREFIX)} - os.environ.keys()
    return {**os.environ, **{name: f"https://{name.lower()}.invalid" for name in missing}}


def _summary(policy: Policy, gateways: int, warnings: int) -> str:
    rules = sum(
        len(one.rules) + len(one.restatements) for name, one in policy.providers.items() if name == one.name
    ) + len(policy.general)
    rules += sum(len(client.restatements) for client in policy.clients)
    cases = len(policy.cases) + len(policy.client_cases)
    found = f"{warnings} warning{'s' * (warnings != 1)}" if warnings else "no problems"
    return f"{len(policy.files) + gateways} files, {rules} rules, {cases} cases: {found}"
