"""`faultwise check`: is every rule file right?"""

from __future__ import annotations

import argparse

from faultwise.engine.policy.load import load
from faultwise.engine.problem import PolicyError

from . import FINDINGS, FINE
from .output import FORMATS, report
from .sources import source_arguments, sources


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or directories, laid over the shipped catalogue"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--strict", action="store_true", help="warnings fail too")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Report every problem at once; 1 where there is an error."""
    try:
        policy = load(sources(options, options.paths))
    except PolicyError as error:
        report(error.problems, options.format)
        return FINDINGS
    report((), options.format)
    if options.format == "text":
        rules = sum(
            len(one.rules) + len(one.restatements) for name, one in policy.providers.items() if name == one.name
        ) + len(policy.general)
        print(f"{len(policy.files)} files, {rules} rules, {len(policy.cases)} cases: no problems")
    return FINE
