"""Text -> nodes. The grammar is `grammar.lark`; this is its only reader, and Lark stays private here.

An expression is at most `LONGEST` characters and `DEEPEST` levels of brackets and `not` deep, so that whoever walks a
tree may recurse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, UnexpectedInput

from .clock import Clock
from .duration import duration
from .errors import DslError
from .mistakes import explain
from .nodes import (
    And,
    Call,
    Compare,
    Duration,
    Else,
    Entry,
    Exists,
    List,
    ListName,
    Lookup,
    Name,
    Node,
    Not,
    Number,
    Or,
    Pattern,
    Span,
    Text,
    Truth,
    Until,
)

LONGEST = 4_000  # characters
DEEPEST = 40  # levels
REMEMBERED = 16_384  # parsed expressions: a reload parses only what changed


def parse(text: str) -> Node:
    """The tree of one expression. Raises DslError where it is not well-formed; types are for `check`.

    The root's span carries the text, from which later errors draw their excerpts.
    """
    if len(text) > LONGEST:
        message = f"an expression of {len(text)} characters, more than {LONGEST}"
        raise DslError(
            message, Span(LONGEST, len(text)), "a long list of texts belongs under `markers:` as a named list", text
        )
    return _parse(text)


@lru_cache(maxsize=REMEMBERED)
def _parse(text: str) -> Node:
    try:
        root = _lark().parse(text)
    except UnexpectedInput as error:
        raise explain(error, text, _lark()) from None
    except DslError as error:
        raise DslError(error.message, error.span, error.hint, text) from None
    assert isinstance(root, Node)
    return replace(root, span=Span(root.span.start, root.span.end, text))


@cache
def _lark() -> Lark:
    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        maybe_placeholders=False,
        transformer=_Builder(),
        postlex=_Nesting(),
    )


class _Nesting:
    """Counts open brackets and pending `not`s while the tokens go by, before anything can recurse."""

    always_accept = ()

    def process(self, tokens: Iterator[Token]) -> Iterator[Token]:
        outer, depth = [0], 0
        for token in tokens:
            if token.type in ("LPAR", "LSQB", "LEFT", "OPEN"):
                outer.append(depth)
                depth += 1
            elif token.type in ("RIGHT", "CLOSE") and len(outer) > 1:
                depth = outer.pop()
            elif token.type == "NOT":
                depth += 1
            elif token.type in ("_AND", "_OR", "COMMA"):
                depth = outer[-1] + 1 if len(outer) > 1 else 0
            if depth > DEEPEST:
                hint = "split the condition into several rules, or name its parts"
                raise DslError(f"an expression nested more than {DEEPEST} deep", _span(token), hint)
            yield token


class _Builder:
    """One method per rule of the grammar, called with what the rule's parts became."""

    def either(self, conditions: list[Node]) -> Node:
        return Or(tuple(conditions), span=_join(conditions[0], conditions[-1]))

    def both(self, conditions: list[Node]) -> Node:
        return And(tuple(conditions), span=_join(conditions[0], conditions[-1]))

    def negation(self, parts: tuple[Token, Node]) -> Node:
        word, condition = parts
        return Not(condition, span=_join(word, condition))

    def operator(self, words: list[Token]) -> str:
        return " ".join(words)

    def compare(self, parts: tuple[Node, str, Node]) -> Node:
        left, operator, right = parts
        return Compare(operator, left, right, span=_join(left, right))

    def exists(self, parts: tuple[Node, Token]) -> Node:
        value, word = parts
        return Exists(value, span=_join(value, word))

    def fallback(self, options: list[Node]) -> Node:
        return Else(tuple(options), span=_join(options[0], options[-1]))

    def quantity(self, parts: list[Token]) -> Node:
        token, span = parts[0], _span(parts[0])
        if re.fullmatch(r"-?[0-9]{1,30}", token):
            return Number(int(token), span=span)
        if re.fullmatch(r"-?[0-9]{1,30}\.[0-9]{1,30}", token):
            return Number(float(token), span=span)
        try:
            return Duration(duration(token), span=span)
        except ValueError as error:
            raise DslError(str(error), span) from None

    def text(self, parts: list[Token]) -> Node:
        token, span = parts[0], _span(parts[0])
        try:
            value = json.loads(token, strict=False) if "\\" in token else token[1:-1]
            value.encode()
        except UnicodeEncodeError:
            raise DslError("a text with half a surrogate pair", span) from None
        except ValueError:
            hint = r"escapes are those of JSON: \" \\ \/ \b \f \n \r \t and \u with four hex digits"
            raise DslError(f"a text with an escape that does not exist: {token}", span, hint) from None
        return Text(value, span=span)

    def pattern(self, parts: list[Token]) -> Node:
        return Pattern(re.sub(r"\\(.)", _unslash, parts[0][1:-1]), span=_span(parts[0]))

    def truth(self, parts: list[Token]) -> Node:
        return Truth(parts[0] == "true", span=_span(parts[0]))

    def name(self, parts: list[Token]) -> Node:
        return Name(str(parts[0]), span=_span(parts[0]))

    def keyed(self, parts: tuple[Token, Node, Token]) -> Node:
        name, key, close = parts
        if not isinstance(key, Text):
            raise DslError(
                f"the key of `{name}` is not a text in double quotes", key.span, f'write it as `{name}["…"]`'
            )
        return Entry(str(name), key.value, key_span=key.span, span=_join(name, close))

    def call(self, parts: list[Any]) -> Node:
        name, *arguments, right = parts
        return Call(str(name), tuple(arguments), span=_join(name, right))

    def lookup(self, parts: tuple[Node, Node, Token]) -> Node:
        pairs, key, close = parts
        return Lookup(pairs, key, span=_join(pairs, close))

    def list_name(self, parts: list[Token]) -> Node:
        return ListName(parts[0][1:], span=_span(parts[0]))

    def group(self, parts: tuple[Token, Node, Token]) -> Node:
        left, node, right = parts
        return replace(node, span=_join(left, right))

    def until_reset(self, words: tuple[Token, Token]) -> Node:
        return Until(None, span=_join(*words))

    def until_clock(self, parts: tuple[Token, Token, Token]) -> Node:
        until, time, zone = parts
        hour, minute = map(int, time.split(":"))
        try:
            return Until(Clock(hour, minute, str(zone)), span=_join(until, zone))
        except ValueError as error:
            hint = "zones are IANA names such as `UTC` or `Asia/Shanghai`" if "zone" in str(error) else ""
            raise DslError(str(error), _join(time, zone), hint) from None

    def list(self, parts: list[Any]) -> Node:
        opening, *items, close = parts
        return List(tuple(items), span=_join(opening, close))


def _unslash(escape: re.Match[str]) -> str:
    return "/" if escape[1] == "/" else escape[0]


def _span(token: Token) -> Span:
    return Span(token.start_pos or 0, token.end_pos or 0)


def _join(first: Node | Token, last: Node | Token) -> Span:
    start = first.span.start if isinstance(first, Node) else first.start_pos or 0
    end = last.span.end if isinstance(last, Node) else last.end_pos or 0
    return Span(start, end)
