"""What is left when nothing is: the emergency fallback's target, asked once, after all others failed or are closed."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from .attempt import Opened
from .emergency import bounded
from .line import Refusal
from .rotation import Rotation

if TYPE_CHECKING:
    from .relay import Relay

log = logging.getLogger("faultwise.state")


async def rescued(relay: Relay, until: float) -> Opened | None:
    """Its answer, where every target failed for a reason that is declared; None: the outcome stays as it is."""
    emergency, reasons = relay.active.settings.emergency, relay.ledger.reasons
    if emergency is None or not reasons or not reasons <= emergency.reasons:
        return None
    asked = {one.target.identity for one in relay.ledger.attempted}
    for target in relay.active.routes.emergency(relay.call.endpoint, relay.key):
        if target.identity in asked or await relay.excluded(target, Rotation()):
            continue
        body = await asyncio.to_thread(bounded, relay.call, target.model, emergency.max_tokens)
        if body is None or asyncio.get_running_loop().time() >= until:
            return None
        found = await relay.asked(target, until, replace(relay.call, body=body, spans=()))
        if isinstance(found, Refusal):
            return None
        attempt, answer = found
        if isinstance(answer, Opened):
            relay.emergency = ", ".join(sorted(reasons))
            log.warning("emergency request=%s target=%s reasons=%s", relay.call.id, target.label, relay.emergency)
            return answer
        await relay.failed(attempt, answer)
        return None
    return None
