"""A value that must not be seen."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "***"
SHORT = 8  # characters; what is shorter may be a word (`EMPTY`, `ollama`) or a part of any


class Secret:
    """Holds a credential; its text forms are `***`. `reveal` is for the one place that sends it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The credential itself."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__


def masked(text: str, secrets: Iterable[str]) -> str:
    """The text without these secrets. A short one is looked for as a word of its own: messages are made of its letters."""
    for secret in secrets:
        if secret and secret in text:
            found = re.escape(secret)
            text = re.sub(rf"(?<!\w){found}(?!\w)" if len(secret) < SHORT else found, MASK, text)
    return text
