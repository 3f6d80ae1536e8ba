"""FW105: a marker that is too short or says too little to tell one failure from another."""

from __future__ import annotations

from collections.abc import Iterator

from faultwise import dsl
from faultwise.engine.problem import Problem

from .catalogue import Catalogue

CODE = "FW105"
SHORTEST = 4  # characters, where all are ASCII: in other scripts one may be a word
GENERIC = frozenset(
    """
    access account api denied error errors exception exceeded fail failed failure forbidden http internal invalid json
    limit message missing model models null please provider quota request response retry server status temporarily
    true unavailable unauthorized unknown unsupported upstream user 错误 失败 请求 请重试 エラー
    """.split()
) | {
    "access denied",
    "bad request",
    "invalid request",
    "not allowed",
    "not found",
    "please try again",
    "something went wrong",
    "too many",
    "try again",
    "unknown error",
}


def check(written: Catalogue) -> Iterator[Problem]:
    """What stands in every second error, or by chance in any text, is no marker; in named lists neither."""
    for rule in written.rules:
        for mark in rule.conditions.marks:
            if why := _weak(mark.folded):
                yield rule.at(mark, CODE, f"the marker `{mark.folded}` {why}", "take more of the phrase, or a code")
    for parsed in written.of_kind("policy"):
        for name, words in (parsed.data.get("markers") or {}).items():
            for number, word in enumerate(words):
                if why := _weak(dsl.fold(word)):
                    line, column = parsed.document.at(("markers", name, number))
                    message = f"the marker `{word}` of `{name}` {why}"
                    yield Problem(
                        parsed.name, line, column, CODE, message, "take more of the phrase, or a code", "warning"
                    )


def _weak(marker: str) -> str:
    """What is wrong with a folded marker; empty where nothing is."""
    if marker in GENERIC:
        return "says nothing about the failure"
    if marker.isascii() and marker.isdigit():
        return "is only a number"
    return "is too short" if marker.isascii() and len(marker) < SHORTEST else ""
