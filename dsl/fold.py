"""How texts are compared: without regard to case, width, compatibility forms and runs of white space."""

from __future__ import annotations

from unicodedata import is_normalized, normalize

_SHORT = 128  # characters
_SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f"  # of ASCII, besides the space


def fold(text: str) -> str:
    """The folded form: NFKC, casefold, runs of white space to one space, none at the ends.

    Markers and what they are looked for in go through here, so that `ＲＡＴＥ  Limit` holds `rate limit`. Folding twice
    changes nothing. Traditional and simplified script stay apart: list both.
    """
    if text.isascii():
        text = text.lower()
        if len(text) < _SHORT and "  " not in text and text.isprintable():
            return text.strip(" ")
        return _single_spaced(text)
    if not is_normalized("NFKC", text):
        text = normalize("NFKC", text)
    folded = text.casefold()
    if not is_normalized("NFKC", folded):
        # A few letters casefold to what composes again. Once more settles it; a loop would never end, for some of them
        # (`ǰ`) casefold to their own decomposition.
        folded = normalize("NFKC", folded).casefold()
    return " ".join(folded.split())


def _single_spaced(text: str) -> str:
    """ASCII with single spaces for its white space: most texts are so already, which is quicker to see than to do."""
    if len(text) < _SHORT or "  " in text:
        return " ".join(text.split())
    for space in _SPACES:
        if space in text:
            return " ".join(text.split())
    return text.strip(" ")
