"""`faultwise explain`: how a verdict came about."""

from __future__ import annotations

import argparse
import json
import sys

from faultwise.engine.problem import PolicyError
from faultwise.engine.verdict.explain import explain

from . import FINDINGS, FINE, USAGE
from .failure import described, failure_arguments, plain
from .output import report
from .sources import meant, policy, source_arguments


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("--format", choices=("text", "json"), default="text")
    failure_arguments(parser)
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the trace."""
    try:
        rules = policy(options)
        explanation = explain(rules, described(options))
    except PolicyError as error:
        report(error.problems)
        return FINDINGS
    except (ValueError, OSError) as error:
        print(f"faultwise explain: {plain(error)}", file=sys.stderr)
        return USAGE
    if options.provider and (near := meant(options.provider, rules)):
        print(f"no rule file is about the provider `{options.provider}`: did you mean `{near}`?", file=sys.stderr)
    if options.format == "json":
        print(json.dumps(explanation.to_json(), ensure_ascii=False, indent=2))
    else:
        print(explanation.text())
    return FINE
