"""Regexes of rules: RE2, so that matching takes time linear in the text whatever the pattern. There is no other way.

On folded text a pattern ignores case, on raw text it does not. RE2 has no look-around and no back-references.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import re2

LONGEST_PATTERN = 500  # characters
MOST_MATCHES = 16  # looked at in one text
LARGEST_PROGRAM = 4_000  # RE2 instructions, which nested repetitions multiply


class Regex:
    """A compiled pattern. Raises ValueError, in words for the author, when it cannot be one."""

    __slots__ = ("_iterate", "_search", "groups", "pattern")

    def __init__(self, pattern: str, *, folded: bool = True) -> None:
        if len(pattern) > LONGEST_PATTERN:
            raise ValueError(f"a regex of {len(pattern)} characters, more than {LONGEST_PATTERN}")
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not folded
        try:
            compiled = re2.compile(pattern.encode(), options)
        except UnicodeEncodeError:
            raise ValueError("a regex with half a surrogate pair") from None
        except re2.error as error:
            raise ValueError(f"the regex does not compile: {_words(error)}") from None
        if compiled.programsize > LARGEST_PROGRAM:
            raise ValueError("the regex is too large once its repetitions are written out")
        if compiled.search(b"") and compiled.search(b"\x00"):  # `^$` finds only the first, `a*` both
            raise ValueError("the regex matches every text")
        self.pattern = pattern
        self.groups: int = compiled.groups
        self._search = compiled.search
        self._iterate = compiled.finditer

    def found(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        return self._search(_encoded(text)) is not None

    def matches(self, text: str) -> Iterator[str]:
        """What the pattern matches in `text`, at most `MOST_MATCHES` of it."""
        for match in islice(self._iterate(_encoded(text)), MOST_MATCHES):
            yield str(match.group(), "utf-8", "replace")

    def captured(self, text: str) -> str | None:
        """What the first group that took part in the first match holds; None without a match."""
        match = self._search(_encoded(text))
        if match is None:
            return None
        for group in match.groups():
            if group is not None:
                return str(group, "utf-8", "replace")
        return None


def _encoded(text: str) -> bytes:
    """UTF-8 for RE2. Half a surrogate pair, which JSON can carry, becomes `?`."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _words(error: Exception) -> str:
    (message,) = error.args
    return str(message, "utf-8", "replace") if isinstance(message, bytes) else str(message)
