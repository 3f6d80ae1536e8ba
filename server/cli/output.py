"""How problems are printed: for people, for programs, for a code host's annotations."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import TextIO

from faultwise.engine.problem import Problem

FORMATS = ("text", "json", "github")
RED, YELLOW, DIM, PLAIN = "\033[31m", "\033[33m", "\033[2m", "\033[0m"


def report(problems: Iterable[Problem], form: str = "text") -> None:
    """Print problems: text to stderr, the other formats to stdout."""
    problems = tuple(problems)
    if form == "json":
        print(json.dumps([asdict(problem) for problem in problems], ensure_ascii=False, indent=2))
    elif form == "github":
        for problem in problems:
            print(_annotation(problem))
    else:
        for problem in problems:
            print(_painted(problem, sys.stderr), file=sys.stderr)


def colour(stream: TextIO) -> bool:
    """Whether colour is welcome: on a terminal, unless NO_COLOR is set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def _painted(problem: Problem, stream: TextIO) -> str:
    text = str(problem)
    if not colour(stream):
        return text
    first, newline, rest = text.partition("\n")
    tint = YELLOW if problem.severity == "warning" else RED
    return (
        first.replace(problem.code, f"{tint}{problem.code}{PLAIN}", 1)
        + newline
        + (f"{DIM}{rest}{PLAIN}" if rest else "")
    )


def _annotation(problem: Problem) -> str:
    """A workflow command; `%`, line ends and, in properties, `,` and `:` are escaped."""
    level = "warning" if problem.severity == "warning" else "error"
    message = problem.message + (f"\nhelp: {problem.hint}" if problem.hint else "")
    places = {"file": problem.file, "line": problem.line, "col": problem.column, "title": problem.code}
    properties = ",".join(f"{name}={_escaped(str(value), ',:')}" for name, value in places.items() if value)
    return f"::{level} {properties}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
