"""Says in the log when the store goes away, comes back, or had to begin anew."""

from __future__ import annotations

import asyncio
import logging

from faultwise.engine.store.base import Store, StoreHealth

log = logging.getLogger("faultwise.state")
LOOK = 0.5  # seconds between looks


async def watch(store: Store) -> None:
    """Look until cancelled."""
    before = StoreHealth("", "ok")
    while True:
        before = noticed(before, store.health())
        await asyncio.sleep(LOOK)


def noticed(before: StoreHealth, now: StoreHealth) -> StoreHealth:
    """Log what is new about a store's health; returns it."""
    if now.status != before.status and now.status == "ok":
        log.info("the store is back queued=%d", now.queued)
    elif now.status != before.status:
        log.warning("the store is away: %s; decisions go on with what is known here, changes wait", now.error)
    if now.set_aside not in (None, before.set_aside):
        log.error("the store's file was damaged and is kept as %s; a fresh one was begun", now.set_aside)
    if now.faults > before.faults:
        log.error("a change of the state failed: %s", now.error)
    return now
