"""Folded text within bounds: a few letters fold to a whole sentence, and a body of them to a book."""

from __future__ import annotations

from faultwise.dsl import fold

LONG_FORMS = "ﷺﷻ"  # fold to 18 and 8 letters; every other one to no more than a handful
GROWTH = 2  # times as long as it was written is the most that is kept of a text with those
STEP = 2048  # characters folded at once


def folded(text: str) -> str:
    """`fold`, of which the end is left out where folding makes the text much longer."""
    if text.isascii() or not any(form in text for form in LONG_FORMS):
        return fold(text)
    left = GROWTH * len(text)
    pieces = []
    for start in range(0, len(text), STEP):
        pieces.append(fold(text[start : start + STEP])[:left])
        left -= len(pieces[-1])
        if left <= 0:
            break
    return "".join(pieces)
