"""`faultwise classify`: one failure or many, a verdict each."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from faultwise.engine.failure.intake import intake
from faultwise.engine.history.log import is_outcome
from faultwise.engine.policy.policy import Policy
from faultwise.engine.problem import PolicyError
from faultwise.engine.verdict.decide import decide

from . import FINDINGS, FINE, USAGE
from .failure import described, failure_arguments, plain
from .output import report
from .sources import policy, source_arguments


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("--jsonl", metavar="FILE|-", help="failures, one JSON object a line")
    failure_arguments(parser)
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print verdicts as JSON, one line each; 1 where a line could not be read."""
    try:
        rules = policy(options)
    except PolicyError as error:
        report(error.problems)
        return FINDINGS
    try:
        if options.jsonl:
            with _lines(options.jsonl) as lines:
                unread = sum(not _line(rules, line) for line in lines if line.strip())
            return FINDINGS if unread else FINE
        print(_json(decide(rules, described(options)).to_json()))
    except (ValueError, OSError) as error:
        print(f"faultwise classify: {plain(error)}", file=sys.stderr)
        return USAGE
    return FINE


@contextmanager
def _lines(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        yield sys.stdin.buffer
    else:
        with open(path, "rb") as file:
            yield file


def _line(rules: Policy, line: bytes) -> bool:
    """Print the verdict of one line, or why there is none; whether the line could be read."""
    row: Any = None
    try:
        row = json.loads(line)
        if is_outcome(row):
            return True  # of the decision log; there is nothing to decide
        print(_json(decide(rules, intake(row, time.time())).to_json()))
    except (ValueError, RecursionError) as error:
        print(_json({"id": row.get("id") if isinstance(row, dict) else None, "error": str(error)}))
        return False
    return True


def _json(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate in a name must not end the run
