"""The echo guard: an upstream that quotes the request is not saying what the request says.

An occurrence of a marker does not count when it, with eight characters on either side (fewer at a quote or an end),
also stands in what the client sent. Everything here is folded text.
"""

from __future__ import annotations

import re

from faultwise.dsl import fold

from .decode import cleaned, unescaped
from .literal import MISSING, parse, texts
from .record import REQUEST_LIMIT

CONTEXT = 8  # characters on either side
MOST_OCCURRENCES = 64  # looked at; a text that repeats the request more often than that says nothing else
QUOTES = "\"'`´‘’‚“”„«»‹›「」『』"
DEEPEST = 12

_BEFORE = re.compile(f"[^{re.escape(QUOTES)}\n]*$")
_AFTER = re.compile(f"^[^{re.escape(QUOTES)}\n]*")


def request_text(request: bytes | None) -> str:
    """What the client sent, folded: as it is, and the texts in its JSON, a line each. Empty without a request."""
    if not request:
        return ""
    raw = cleaned(request[:REQUEST_LIMIT].decode("utf-8", "replace"))
    document = parse(raw)
    inside = [unescaped(raw)] if document is MISSING else map(cleaned, texts(document, DEEPEST))
    return "\n".join((fold(raw), *map(fold, inside)))


def echoed(marker: str, text: str, request: str) -> bool:
    """Whether every occurrence of a marker in a text also stands in the request. True where it does not occur."""
    at = -1
    known: set[str] = set()
    for _ in range(MOST_OCCURRENCES):
        at = text.find(marker, at + 1)
        if at < 0:
            return True
        window = _window(text, at, at + len(marker))
        if window in known:
            continue
        if window not in request:
            return False
        known.add(window)
    return True


def quoted(text: str, request: str) -> bool:
    """Whether a whole text also stands in the request."""
    return bool(request) and fold(text) in request


def _window(text: str, start: int, end: int) -> str:
    before = _BEFORE.search(text[max(0, start - CONTEXT) : start])
    after = _AFTER.search(text[end : end + CONTEXT])
    return f"{before[0] if before else ''}{text[start:end]}{after[0] if after else ''}"
