"""`faultwise test`: do the rules do what their cases say?"""

from __future__ import annotations

import argparse
import json

from faultwise.engine.cases import CaseResult, run_cases
from faultwise.engine.problem import PolicyError

from . import FINDINGS, FINE
from .output import report
from .sources import policy, source_arguments


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or directories, laid over the shipped catalogue"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Run every case; 1 where one fails or the rules do not load."""
    try:
        results = run_cases(policy(options, options.paths))
    except PolicyError as error:
        report(error.problems)
        return FINDINGS
    failed = [result for result in results if result.problem is not None]
    if options.format == "json":
        print(json.dumps([_row(result) for result in results], ensure_ascii=False, indent=2))
    else:
        report(result.problem for result in failed if result.problem is not None)
        print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return FINDINGS if failed else FINE


def _row(result: CaseResult) -> dict[str, object]:
    return {
        "name": result.name,
        "file": result.file,
        "line": result.line,
        "ok": result.ok,
        "message": result.problem.message if result.problem else None,
        "rule": result.verdict.rule if result.verdict else None,
    }
