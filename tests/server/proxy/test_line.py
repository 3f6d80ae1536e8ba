"""Waiting for a connection: in order, with an end, and without losing a slot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from faultwise.server.proxy.line import FULL, TIMEOUT, Bounds, Line

LONG, SHORT = 10.0, 0.001


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(LONG):
            await test()

    asyncio.run(bounded())


async def queued(line: Line, count: int) -> list[asyncio.Task[object]]:
    """So many requests that wait in the line, in order."""
    tasks: list[asyncio.Task[object]] = []
    for number in range(count):
        tasks.append(asyncio.create_task(line.join()))
        while line.waiting <= number:
            await asyncio.sleep(0)
    return tasks


def test_without_bounds_nobody_waits() -> None:
    async def test() -> None:
        line = Line(Bounds(depth=1))
        assert [await line.join() for _ in range(100)] == [False] * 100

    run(test)


def test_slots_are_given_in_the_order_of_arrival() -> None:
    async def test() -> None:
        line = Line(Bounds(slots=2, slot_wait=LONG))
        assert [await line.join(), await line.join()] == [True, True]
        assert line.full
        waiting = await queued(line, 3)
        for number in range(3):
            line.leave()
            assert await waiting[number] is True
            assert [task.done() for task in waiting] == [one <= number for one in range(3)]
        assert line.full
        line.leave()
        assert not line.full

    run(test)


def test_who_waits_too_long_for_a_slot_goes_without_one() -> None:
    async def test() -> None:
        line = Line(Bounds(slots=1, slot_wait=SHORT))
        assert await line.join() is True
        assert await line.join() is False
        line.leave()
        assert await line.join() is True

    run(test)


def test_a_slot_that_was_given_to_someone_who_left_is_given_on() -> None:
    async def test() -> None:
        line = Line(Bounds(slots=1, slot_wait=LONG))
        await line.join()
        first, second, third = await queued(line, 3)
        first.cancel()  # while it waits
        await asyncio.sleep(0)
        line.leave()
        second.cancel()  # in the moment it is given
        assert await third is True
        left = await asyncio.gather(first, second, return_exceptions=True)
        assert [type(one) for one in left] == [asyncio.CancelledError] * 2
        line.leave()
        assert (line.full, line.waiting) == (False, 0)

    run(test)


def test_a_line_that_is_long_enough_takes_nobody_else() -> None:
    async def test() -> None:
        line = Line(Bounds(depth=2, slots=1, slot_wait=LONG))
        assert await line.join() is True
        waiting = await queued(line, 2)
        assert await line.join() is FULL
        line.leave()
        await waiting[0]
        late = await queued(line, 2)
        assert await line.join() is FULL
        for task in (*waiting[1:], *late):
            task.cancel()

    run(test)


def test_the_pace_lets_a_minutes_requests_out_at_once_and_says_at_once_who_would_wait_too_long() -> None:
    async def test() -> None:
        line = Line(Bounds(per_minute=3, max_wait=19.0))
        assert [await line.join() for _ in range(4)] == [False, False, False, TIMEOUT]
        line.bounds = Bounds(per_minute=3, max_wait=21.0)
        waits = asyncio.create_task(line.join())
        await asyncio.sleep(0)
        assert line.waiting == 1
        assert await line.join() is TIMEOUT  # a turn later still
        waits.cancel()

    run(test)


def test_new_bounds_hold_for_who_comes_next() -> None:
    async def test() -> None:
        line = Line(Bounds(slots=1))
        await line.join()
        line.bounds = Bounds(slots=2)
        assert await line.join() is True
        line.bounds = Bounds()
        assert await line.join() is False

    run(test)
