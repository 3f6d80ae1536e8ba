"""A value that must not be seen."""

from __future__ import annotations


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
        return "***"

    __str__ = __repr__
