"""Waiting for targets that are only cooling down: how long a request may, and who goes first when the time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from faultwise.dsl import duration
from faultwise.engine.state.lock import Exclusion, Lock, Trial
from faultwise.engine.state.patience import Patience
from faultwise.engine.state.state import State
from faultwise.server.settings import Settings

from .request import Call, Refused

HEADER = b"x-faultwise-max-wait"
FIRST = 10.0  # seconds the others wait at most for the one that went first
LOOK = 0.25  # seconds between their looks, and what chance adds at most


def patience(settings: Settings, call: Call) -> Patience:
    """How long a request may wait; a client can bound it. Raises `Refused` for a bound that cannot be read."""
    budget = settings.value("wait.budget")
    if bound := call.header(HEADER):
        try:
            budget = min(budget, duration(bound))
        except ValueError as error:
            raise Refused(400, f"`{HEADER.decode()}`: {error}") from None
    times = settings.value("wait.max_attempts") if settings.value("wait.enabled") else 0
    return Patience(settings.value("wait.max_wait"), budget, times)


async def woken(
    state: State, lock: Lock, owner: str, clock: Callable[[], float], draw: Callable[[], float]
) -> tuple[Exclusion, ...]:
    """Return when it is this request's turn. What it holds then is to be reported with its attempt's end.

    One of those that waited for a lock goes first; the others go when it has opened the way, or after a while.
    """
    first = Exclusion("", lock, Trial(f"wake:{lock.key}", lock.key, FIRST))
    for _ in range(int(FIRST / LOOK)):
        if await claimed(state, (first,), owner, clock()) is None:
            return (first,)
        await asyncio.sleep(LOOK * (1 + draw()))
        state.sync()
        now = lock.since, state.locks.table.rows.get(lock.key)
        if now[1] is None or now[1].clean or now[1].since != now[0]:
            break
    return ()


async def claimed(state: State, trials: tuple[Exclusion, ...], owner: str, now: float) -> Exclusion | None:
    """Claim trials without holding up the loop; what stands in the way."""
    if state.store.shared:
        return await asyncio.to_thread(state.claim, trials, owner, now)
    return state.claim(trials, owner, now)
