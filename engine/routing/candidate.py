"""A target as a strategy sees it, and what a strategy is.

A strategy is a function from the targets that may be used to all of them in the order to try them: it leaves none out
and adds none. What it knows of a target is its weight and its record; chance and time are handed in. Locks are not its
matter: a target that is closed is passed over by whoever walks the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from .record import Record


class Candidate(Protocol):
    """A target as a strategy sees it."""

    @property
    def weight(self) -> float:
        """Its share under `weighted`; 0 for a last resort."""

    @property
    def record(self) -> Record:
        """What is known about it."""


C = TypeVar("C", bound=Candidate)
Draw = Callable[[], float]  # chance in [0, 1)


class Strategy(Protocol):
    """An order of targets."""

    def __call__(self, candidates: Sequence[C], draw: Draw, now: float) -> Sequence[C]:
        """The candidates in the order to try them."""
