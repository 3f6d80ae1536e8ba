"""Waiting for one thing, with a deadline that has a name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")
TOTAL = "local_limit"  # the request's own deadline: nobody upstream is to blame


class Late(Exception):
    """A deadline passed. `kind` is the kind of failure that is."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


async def within(work: Awaitable[T], at: float, kind: str, until: float) -> T:
    """What `work` comes to, before the loop's time `at`, or `until`, which ends the whole request. Raises `Late`."""
    try:
        async with asyncio.timeout_at(min(at, until)) as timer:
            return await work
    except TimeoutError:
        if not timer.expired():
            raise
        raise Late(kind if at <= until else TOTAL) from None
