"""An error shows the line and the place, however long and wide the line is."""

from __future__ import annotations

import pickle

import pytest

from faultwise.dsl import DslError, Span, parse


@pytest.mark.parametrize(
    ("text", "span", "excerpt"),
    [
        ("", Span(3, 5), ""),
        ("a b c", Span(2, 3), "a b c\n  ^"),
        ("a bcd e", Span(2, 5), "a bcd e\n  ^^^"),
        ("a", Span(1, 1), "a\n ^"),
        ("one\ntwo three\nfour", Span(8, 13), "two three\n    ^^^^^"),
        ("one\ntwo\nthree", Span(4, 12), "two\n^^^"),
        ("\tab c", Span(4, 5), "\tab c\n\t   ^"),
        ("额度 x", Span(3, 4), "额度 x\n     ^"),
        ("额度 x", Span(0, 2), "额度 x\n^^^^"),
        ("e\u0301 x", Span(3, 4), "e\u0301 x\n  ^"),
        ("a" * 200, Span(150, 152), "…" + "a" * 100 + "\n" + " " * 51 + "^^"),
        ("a" * 200, Span(0, 200), "a" * 100 + "…\n" + "^" * 100),
    ],
)
def test_the_excerpt(text: str, span: Span, excerpt: str) -> None:
    assert DslError("message", span, text=text).excerpt() == excerpt


def test_the_whole_is_message_excerpt_and_help() -> None:
    assert str(DslError("no such name `b`", Span(2, 3), "did you mean `a`?", "a b")) == (
        "no such name `b`\n    a b\n      ^\n    help: did you mean `a`?"
    )
    assert str(DslError("no such name `b`", Span(2, 3))) == "no such name `b`"


def test_errors_and_trees_travel_between_processes() -> None:
    error = pickle.loads(pickle.dumps(DslError("message", Span(2, 3), "help", "a b")))
    assert (error.message, error.span, error.hint, error.text) == ("message", Span(2, 3), "help", "a b")
    node = parse('until 08:00 UTC else min(stated, 1h) > 5m and code in ["a"]')
    assert pickle.loads(pickle.dumps(node)) == node
