"""What the YAML parser complains about, in the words of a rule's author, at the place that helps."""

from __future__ import annotations

import yaml

from faultwise.engine.problem import Problem

from .document import excerpt, position

# What the parser says; whether to show where the construct began instead of where reading stopped; our words; help.
_TABLE: tuple[tuple[str, bool, str, str], ...] = (
    ("not find expected ':'", True, "expected `:` after this key", "write `key: value`, and put longer text in quotes"),
    (
        "mapping values are not allowed",
        False,
        "a `:` where no key can stand",
        "put text that holds `: ` in quotes, or check the indentation",
    ),
    ("unexpected end of stream", True, "a quoted text is not closed", "add the closing quote"),
    ("unexpected document separator", True, "a quoted text is not closed", "add the closing quote"),
    ("unexpected document indicator", True, "a quoted text is not closed", "add the closing quote"),
    (
        "unknown escape character",
        False,
        "no such escape in double quotes",
        r"write `\\` for a backslash, or use single quotes",
    ),
    (
        "decimal number",
        False,
        "an escape without its hexadecimal digits",
        r"write `\\` for a backslash, or use single quotes",
    ),
    ("cannot start any token", False, "a value cannot start with this character", "put the text in quotes"),
    (
        "expected alphabetic or numeric character",
        False,
        "`*` and `&` need a name",
        "put text that starts with them in quotes",
    ),
    ("expected ',' or ']'", True, "this list is not closed, or a comma is missing in it", "compare the brackets"),
    ("expected ',' or '}'", True, "this mapping is not closed, or a comma is missing in it", "compare the braces"),
    ("node content", False, "expected a value", "close what is open before this, or put the text in quotes"),
    ("expected '-' indicator", False, "expected another `- ` item here", "check the indentation"),
    ("expected key", False, "expected another key here", "check the indentation, and put special signs in quotes"),
    ("expected <block end>", False, "expected another key or item here", "check the indentation"),
    ("sequence entries are not allowed", False, "a list cannot start here", "start it on a new line"),
)


def syntax_problem(error: yaml.MarkedYAMLError, text: str, starts: tuple[int, ...], file: str) -> Problem:
    """The parser's error as a problem. `starts`: the line starts of the text."""
    said = error.problem or "the parser gives no reason"
    mark = error.problem_mark or error.context_mark
    offset = min(mark.index, len(text)) if mark is not None else 0
    tab = _tab(text, starts, offset)
    if tab is not None:
        message, help_ = "a tab in the indentation", "indent with spaces"
        return _problem(text, starts, tab, file, message, help_)
    for needle, from_start, message, help_ in _TABLE:
        if needle in said:
            if from_start and error.context_mark is not None:
                offset = error.context_mark.index
            return _problem(text, starts, offset, file, message, help_)
    return _problem(text, starts, offset, file, f"not YAML: {said}", "")


def _problem(text: str, starts: tuple[int, ...], offset: int, file: str, message: str, help_: str) -> Problem:
    shown = excerpt(text, starts, offset)
    return Problem(file, *position(starts, offset), "FW002", message, help_, excerpt=shown)


def _tab(text: str, starts: tuple[int, ...], offset: int) -> int | None:
    """The offset of a tab in the indentation of the line at which reading stopped."""
    line, _ = position(starts, offset)
    start = starts[line - 1]
    end = start
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    found = text.find("\t", start, end)
    return found if found >= 0 else None
