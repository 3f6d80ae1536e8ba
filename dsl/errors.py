"""What is wrong with an expression: a message, where, and what to do about it. The only exception this folder raises.

Messages are lower case without a full stop, with what the author wrote in backticks; the help stands apart.
"""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from .nodes import Span

WIDEST_EXCERPT = 100  # columns of the offending line that are shown


class DslError(Exception):
    """One problem in an expression. `text` is the whole expression, or empty when it was not written as one."""

    def __init__(self, message: str, span: Span, hint: str = "", text: str = "") -> None:
        super().__init__(message, span, hint, text)  # all of them, so that it can be pickled
        self.message = message
        self.span = span
        self.hint = hint
        self.text = text

    def excerpt(self) -> str:
        """The line in question and carets below the part that is wrong; empty without a text."""
        if not self.text:
            return ""
        start = min(self.span.start, len(self.text))
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", start)
        line = self.text[first : len(self.text) if last < 0 else last]
        column, length = start - first, max(1, min(self.span.end, first + len(line)) - start)
        cut = max(0, column - WIDEST_EXCERPT // 2)
        shown = line[cut : cut + WIDEST_EXCERPT]
        before, marked = shown[: column - cut], shown[column - cut :][:length]
        if cut:
            shown, before = "…" + shown, "…" + before
        if cut + WIDEST_EXCERPT < len(line):
            shown += "…"
        blanks = "".join("\t" if letter == "\t" else " " * _columns(letter) for letter in before)
        return f"{shown}\n{blanks}{'^' * max(1, sum(map(_columns, marked)))}"

    def __str__(self) -> str:
        lines = [self.message, *("    " + line for line in self.excerpt().splitlines())]
        if self.hint:
            lines.append(f"    help: {self.hint}")
        return "\n".join(lines)


def _columns(letter: str) -> int:
    """How many columns a terminal gives the letter."""
    if combining(letter):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1
