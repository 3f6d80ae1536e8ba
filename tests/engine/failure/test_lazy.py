"""Computed once."""

from __future__ import annotations

from faultwise.engine.failure.lazy import lazy


class Thing:
    def __init__(self) -> None:
        self.calls = 0

    @lazy
    def value(self) -> int:
        """The documented value."""
        self.calls += 1
        return 7


def test_a_lazy_property_is_computed_once_and_keeps_its_docstring() -> None:
    thing = Thing()
    assert (thing.value, thing.value, thing.calls) == (7, 7, 1)
    assert Thing.value.__doc__ == "The documented value."
