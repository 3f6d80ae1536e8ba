"""How texts are compared: without regard to case, width, compatibility forms and runs of white space."""

from __future__ import annotations

from unicodedata import is_normalized, normalize


def fold(text: str) -> str:
    """The folded form: NFKC, casefold, runs of white space to one space, none at the ends.

    Markers and what they are looked for in go through here, so that `ＲＡＴＥ  Limit` holds `rate limit`. Folding twice
    changes nothing. Traditional and simplified script stay apart: list both.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    if not is_normalized("NFKC", text):
        text = normalize("NFKC", text)
    folded = text.casefold()
    if not is_normalized("NFKC", folded):
        # A few letters casefold to what composes again. Once more settles it; a loop would never end, for some of them
        # (`ǰ`) casefold to their own decomposition.
        folded = normalize("NFKC", folded).casefold()
    return " ".join(folded.split())
