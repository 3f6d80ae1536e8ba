"""FW113: a regex that says no more than a marker."""

from __future__ import annotations

import re
from collections.abc import Iterator

from faultwise.dsl.nodes import Compare, Pattern
from faultwise.engine.problem import Problem

from .catalogue import Catalogue
from .conditions import walk

CODE = "FW113"
_LITERAL = r"(?:[^\\.^$*+?{}\[\]|()]|\\[^\w\s])+"
_PLAIN = re.compile(_LITERAL)
_EITHER = re.compile(rf"{_LITERAL}(?:\|{_LITERAL})+|\({_LITERAL}(?:\|{_LITERAL})+\)")


def check(written: Catalogue) -> Iterator[Problem]:
    """Markers are found in one scan for all rules, are spared an echo of the prompt, and read more easily."""
    for rule in written.rules:
        for node in rule.conditions.nodes:
            for part in walk(node):
                match part:
                    case Compare("matches", _, Pattern(pattern)) if instead := _instead(pattern):
                        message = f"the regex `/{pattern}/` only looks for words"
                        yield rule.warning(("when",), CODE, message, f"write `{instead}`", part.right.span.start)


def _instead(pattern: str) -> str:
    """The operator and its markers; empty where a regex is needed."""
    if _PLAIN.fullmatch(pattern):
        return f"has {_quoted(pattern)}"
    if _EITHER.fullmatch(pattern):
        return f"has any [{', '.join(map(_quoted, pattern.strip('()').split('|')))}]"
    return ""


def _quoted(literal: str) -> str:
    text = re.sub(r"\\(.)", r"\1", literal)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
