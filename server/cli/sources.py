"""Which rules a verb works with: the shipped ones, those of the environment, and those named."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources, collect

ENVIRONMENT = "FAULTWISE_RULES"


def source_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name rules, the same for every verb."""
    parser.add_argument(
        "--rules", action="append", default=[], metavar="DIR", help="rules over the others; repeatable, later wins"
    )
    parser.add_argument("--no-shipped", action="store_true", help="leave out the shipped catalogue")


def sources(options: argparse.Namespace, paths: Iterable[str] = ()) -> Sources:
    """One snapshot of the rule files. Paths given to a verb stand in for the sources of the environment.

    Raises PolicyError for a path that cannot be read.
    """
    named = list(paths) or [path for path in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if path]
    return collect([*named, *options.rules], shipped=not options.no_shipped)


def policy(options: argparse.Namespace, paths: Iterable[str] = ()) -> Policy:
    """The policy of those files. Raises PolicyError."""
    return load(sources(options, paths))
