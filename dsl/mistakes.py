"""What to say about a malformed expression: messages, each with examples of the mistake.

An example fails in some state of the parser; whatever fails in the same state gets the same message. The tests go
through the same tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from lark import Lark, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from .errors import DslError
from .nodes import OPERATORS, Span


@dataclass(frozen=True, slots=True)
class Mistake:
    """`message` for everything that goes wrong where one of `examples` does."""

    message: str
    hint: str
    examples: tuple[str, ...]


_VALUES = ("text", "1", '"x"', "true", "/x/", "@x", '["x"]', 'header["x"]', "number(text)", "(text)", "until reset")
_OPENED = ("", "not ", "(", "text exists and ", "text exists or ", "min(", "min(1, ", "[", '["x", ')
_AWAITING = (*(f"text {operator} " for operator in OPERATORS), "text else ", 'pairs(text, ",", "=")[', "header[")

MISTAKES = (
    Mistake(
        "a bracket is not closed",
        "add `)` or `]`",
        (
            "(text exists",
            "number(text",
            "min(1, 2",
            'header["x"',
            '["x"',
            'code in ["x"',
            'pairs(text, ",", "=")[model',
        ),
    ),
    Mistake(
        "a bracket is closed that was not opened",
        "remove it, or open it before",
        tuple(f"{value} {wrong}" for value in (*_VALUES, "text exists", 'text has "x"') for wrong in (")", "]")),
    ),
    Mistake("`starts` lacks its `with`", 'write `starts with "…"`', ('text starts "x"', "text starts")),
    Mistake("`ends` lacks its `with`", 'write `ends with "…"`', ('text ends "x"', "text ends")),
    Mistake(
        "`not` after a value needs an `in`",
        'write `not in […]`, or put the `not` first: `not text has "…"`',
        ('text not has "x"', "text not exists", "text not"),
    ),
    Mistake(
        "`until` lacks its time",
        "write `until reset` or, say, `until 00:00 UTC`",
        ("until", "until midnight", "until 5", "until (reset)"),
    ),
    Mistake(
        "a time of day needs a zone", "write, say, `until 08:00 Asia/Shanghai`", ("until 08:00", "until 08:00 else 1h")
    ),
    Mistake(
        "comparisons do not chain",
        "write `a < b and b < c`",
        ("1 < 2 < 3", "status == 403 == true", "text exists == true", 'text has "x" has "y"', 'text has "x" in ["x"]'),
    ),
    Mistake(
        "{found} stands where a value or a condition is expected",
        "",
        tuple(before + wrong for before in (*_OPENED, *_AWAITING) for wrong in ("==", "or")),
    ),
    Mistake(
        "the expression ends too early",
        "a value or a condition is missing",
        tuple(before.rstrip() for before in (*_OPENED, *_AWAITING)),
    ),
    Mistake(
        "{found} does not belong here",
        "something is missing before it: an operator, a comma, `and` or `or`",
        (
            *(f"{value} {wrong}" for value in _VALUES for wrong in ("text", '"x"', "1", "@x")),
            *(f'{value} == "x" {wrong}' for value in _VALUES for wrong in ("text", '"x"')),
            "text exists text",
            'text exists "x"',
            'pairs(text, ",", "=")[model] text',
        ),
    ),
)

# What other languages write, and what this one does. Looked up without case.
WORDS = {
    "contains": "has",
    "contain": "has",
    "includes": "has",
    "like": "matches",
    "regex": "matches",
    "startswith": "starts with",
    "endswith": "ends with",
    "begins": "starts with",
    "is": "==",
    "eq": "==",
    "equals": "==",
    "ne": "!=",
    "lt": "<",
    "gt": ">",
    "exist": "exists",
    "or_else": "else",
    "default": "else",
}

# What a text that is no word of the language may begin with; longer ones first.
CHARACTERS = (
    ("'", "texts are written in double quotes", ""),
    ("‘", "texts are written in double quotes", ""),
    ("’", "texts are written in double quotes", ""),
    ("“", "texts are written in straight double quotes", ""),
    ("”", "texts are written in straight double quotes", ""),
    ('"', "a text is not closed", 'add `"`; a line break inside is written `\\n`, a quote `\\"`'),
    ("/", "a regex is not closed", "add `/`; a slash inside is written `\\/`"),
    ("&", "`&` is not an operator", "write `and`"),
    ("|", "`|` is not an operator", "write `or`"),
    ("=~", "`=~` is not an operator", "write `matches /…/`"),
    ("=", "`=` is not an operator", "write `==`"),
    ("!", "`!` is not an operator", "write `not`"),
    ("@", "`@` needs the name of a list", ""),
    ("{", "`{` is not part of the language", "lists are written in square brackets"),
    ("#", "expressions have no comments", "put it into the YAML, or into `why:`"),
)


def explain(error: UnexpectedInput, text: str, lark: Lark) -> DslError:
    """The error in the author's words, with its place."""
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        return _unexpected(error, text, lark)
    if isinstance(error, UnexpectedCharacters):
        return _unreadable(error.pos_in_stream or 0, text)
    message, hint = _matching(error, lark)
    end = len(text.rstrip())
    return DslError(message, Span(end, end), hint, text)


def _unexpected(error: UnexpectedToken, text: str, lark: Lark) -> DslError:
    token = error.token
    span = Span(token.start_pos or 0, token.end_pos or 0)
    message, hint = _matching(error, lark)
    if token.type in ("NAME", "ZONE"):
        word = token.lower()
        words = ("and", "or", "not", "else", "exists", *OPERATORS)
        meant = word if word in words else WORDS.get(word) or next(iter(get_close_matches(word, words, 1, 0.75)), None)
        if meant:
            message, hint = f"`{token}` is not an operator", f"write `{meant}`"
    return DslError(message.format(found=f"`{_shortened(token)}`"), span, hint, text)


def _unreadable(position: int, text: str) -> DslError:
    for beginning, message, hint in CHARACTERS:
        if text.startswith(beginning, position):
            return DslError(message, Span(position, position + len(beginning)), hint, text)
    return DslError(f"`{text[position]}` is not part of the language", Span(position, position + 1), "", text)


def _matching(error: UnexpectedInput, lark: Lark) -> tuple[str, str]:
    exact, near = _states(lark)
    state = _state(error)
    mistake = exact.get(state) or near.get(state[0])
    return (mistake.message, mistake.hint) if mistake else ("{found} does not belong here", "")


@lru_cache(maxsize=1)
def _states(lark: Lark) -> tuple[dict[tuple[object, str], Mistake], dict[object, Mistake]]:
    """Where each example fails: by parser state and token, and by parser state alone. The first mistake listed wins."""
    exact: dict[tuple[object, str], Mistake] = {}
    near: dict[object, Mistake] = {}
    for mistake in MISTAKES:
        for example in mistake.examples:
            try:
                lark.parse(example)
            except UnexpectedInput as error:
                state = _state(error)
                exact.setdefault(state, mistake)
                near.setdefault(state[0], mistake)
    return exact, near


def _state(error: UnexpectedInput) -> tuple[object, str]:
    position = getattr(error.state, "position", None)
    return position, error.token.type if isinstance(error, UnexpectedToken) else ""


def _shortened(text: str) -> str:
    return text if len(text) <= 30 else text[:29] + "…"
