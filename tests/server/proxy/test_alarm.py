"""A deadline that moves, and whose cancellation is told from anybody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from math import inf

import pytest

from faultwise.server.proxy.alarm import Alarm


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(10):
            await test()

    asyncio.run(bounded())


async def wait(alarm: Alarm, seconds: float, until: float = inf, on: Awaitable[object] | None = None) -> str:
    """What ended a wait."""
    alarm.set(seconds, until)
    try:
        await (on if on is not None else asyncio.Event().wait())
    except asyncio.CancelledError:
        if alarm.rang():
            return "rang"
        raise
    finally:
        alarm.off()
    return "done"


def test_it_goes_off_when_its_time_or_the_last_moment_is_over() -> None:
    async def test() -> None:
        assert await wait(Alarm(), 0.001) == "rang"
        assert await wait(Alarm(), inf, asyncio.get_running_loop().time() + 0.001) == "rang"

    run(test)


def test_one_timer_serves_waits_that_follow_and_goes_off_no_sooner_than_the_last_allows() -> None:
    async def test() -> None:
        alarm = Alarm()
        for _ in range(3):
            assert await wait(alarm, 0.001, on=asyncio.sleep(0)) == "done"
        await asyncio.sleep(0.002)  # the timer finds nobody who waits
        assert await wait(alarm, 5, on=asyncio.sleep(0.002)) == "done"
        assert await wait(alarm, 0.001) == "rang"

    run(test)


def test_who_is_cancelled_by_others_stays_cancelled_even_in_the_same_moment() -> None:
    async def test() -> None:
        for also_rung in (False, True):
            alarm = Alarm()
            task = asyncio.create_task(wait(alarm, 5))
            await asyncio.sleep(0)
            assert alarm.waiting
            if also_rung:
                alarm.ring()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(test)


def test_it_can_be_rung_by_hand_and_closed_for_good() -> None:
    async def test() -> None:
        alarm = Alarm()
        task = asyncio.create_task(wait(alarm, 5))
        await asyncio.sleep(0)
        alarm.ring()
        assert await task == "rang"
        alarm.ring()  # nobody waits any more
        alarm.close()
        alarm.close()

    run(test)
