"""The echo guard: an upstream that quotes the request is not saying what the request says.

An occurrence of a marker does not count when it, with eight characters on either side (fewer at a quote, at an end, or
where the upstream cut the text off), also stands in what the client sent. Everything here is folded text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from faultwise.dsl import fold

from .decode import cleaned, unescaped
from .folded import folded
from .literal import MISSING, parse, texts
from .record import REQUEST_LIMIT

CONTEXT = 8  # characters on either side
MOST_OCCURRENCES = 64  # looked at; a text that repeats the request more often than that says nothing else
QUOTES = "\"'`´‘’‚“”„«»‹›「」『』"
DEEPEST = 12

GAP = "\ufffc"  # stands for what was taken out
CUT = "..."  # what `…` folds to as well
SHORTEST_QUOTE = 12  # characters that were cut off and are still known for a quotation

# A quote that is escaped has backslashes before it, and so have line ends: there is no telling what they stood for.
_END = rf"[{re.escape(QUOTES)}\n\\]|\.\.\."
_BOUNDARY = re.compile(_END)
_PIECES = re.compile(f"({_END})")


def request_text(request: bytes | None) -> str:
    """What the client sent, folded: as it is, and the texts in its JSON, a line each. Empty without a request."""
    if not request:
        return ""
    raw = cleaned(request[:REQUEST_LIMIT].decode("utf-8", "replace"))
    document = parse(raw)
    inside = [unescaped(raw)] if document is MISSING else map(cleaned, texts(document, DEEPEST))
    return "\n".join((folded(raw), *map(folded, inside)))


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
    """Whether a whole text also stands in the request, however often it was escaped; or its beginning, where it is cut."""
    if not request:
        return False
    said = folded(text)
    if "\\" in said:
        said, request = said.replace("\\", ""), request.replace("\\", "")
    if said in request:
        return True
    head, cut, _ = said.partition(CUT)
    return bool(cut) and len(head) >= SHORTEST_QUOTE and head in request


@dataclass(frozen=True, slots=True)
class Echo:
    """What one client sent, folded, to hold unfolded texts against."""

    request: str

    def quotes(self, text: str) -> bool:
        """Whether a whole text was sent."""
        return quoted(text, self.request)

    def repeats(self, words: str, text: str) -> bool:
        """Whether some words in a text are the client's."""
        return echoed(fold(words), folded(text), self.request)


def own(text: str, request: str) -> str:
    """A text with `GAP` for each sentence in it that also stands in the request, from one quote or end to the next.

    Single words stay: the name of a model, say, is what the upstream speaks about.
    """
    pieces = _PIECES.split(text)
    return "".join(GAP if _is_sentence(piece) and piece in request else piece for piece in pieces)


def _is_sentence(piece: str) -> bool:
    return " " in piece.strip() or not piece.isascii()


def _window(text: str, start: int, end: int) -> str:
    before = _BOUNDARY.split(text[max(0, start - CONTEXT) : start])[-1]
    after = _BOUNDARY.split(text[end : end + CONTEXT + len(CUT) - 1], maxsplit=1)[0][:CONTEXT]
    return f"{before}{text[start:end]}{after}"
