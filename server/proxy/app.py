"""The proxied paths: one gate, one fallback path for all of them. Plain ASGI, since this is where every request goes."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from starlette.types import Receive, Scope, Send

from faultwise.server.cell import Cell
from faultwise.server.observer import GONE, OK, Observer

from . import answers
from .access import administers
from .access import client as known
from .attempt import Opened
from .body import Gone, disconnected, whole
from .client import Client, Stuck, holds_events
from .delivery import Sent, deliver
from .endpoint import ENDPOINTS, Endpoint
from .outcome import Outcome, Said, of_attempt
from .pace import estimate
from .relay import Relay
from .request import LARGE, Pairs, Refused, read
from .telling import tell
from .upstream import Upstreams
from .waiting import patience

log = logging.getLogger("faultwise.request")
ID_BYTES = 9
BROKEN = Outcome(500, "internal_error", Said("the server failed on this request; its log says more", "internal_error"))
RETRYABLE = (408, 429, 500, 502, 503, 504)  # of statuses that can no longer be told
LEFT = Outcome(499, GONE, Said())  # told to nobody; the log's word for a client that left


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxied endpoint as an ASGI application."""

    endpoint: Endpoint
    cell: Cell
    upstreams: Upstreams
    clock: Callable[[], float]
    draw: Callable[[], float]
    observer: Observer
    token: str = ""  # of the operator, who is told more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        begun = time.perf_counter()
        id = f"fw-{secrets.token_urlsafe(ID_BYTES)}"
        try:
            relay = await self._admitted(id, scope, receive)
        except Refused as refused:
            self.observer.refused(self.endpoint.name, refused.status, refused.reason)
            status = await self._refuse(id, refused, tuple(scope["headers"]), send)
            _line(id, self.endpoint, "-", "-", status, 0, refused.reason, None, begun)
            return
        except Gone:
            self.observer.refused(self.endpoint.name, LEFT.status, LEFT.reason)
            _line(id, self.endpoint, "-", "-", LEFT.status, 0, LEFT.reason, None, begun)
            return
        await _attended(self._serve(relay, send, begun), receive)

    async def _admitted(self, id: str, scope: Scope, receive: Receive) -> Relay:
        """What `_admit` comes to; a fault of ours is a refusal in the client's wire."""
        try:
            return await self._admit(id, scope, receive)
        except (Refused, Gone):
            raise
        except Exception:
            log.exception("request id=%s failed here", id)
            raise Refused(BROKEN.status, BROKEN.said.message, BROKEN.reason) from None

    async def _admit(self, id: str, scope: Scope, receive: Receive) -> Relay:
        active = self.cell.active
        headers: Pairs = tuple(scope["headers"])
        if len(headers) > active.settings.value("limits.headers"):
            raise Refused(431, "the request has too many headers", "too_many_headers")
        most = active.settings.value("limits.header_bytes")
        if sum(len(name) + len(value) for name, value in headers) > most:
            raise Refused(431, f"the request's headers are larger than {most} bytes", "headers_too_large")
        key = known(headers, scope["query_string"], active.settings.keys)
        body = await whole(receive, active.settings.value("limits.body"))
        asked = id, self.endpoint, scope["path"], scope["query_string"], headers, body
        call = read(*asked) if len(body) <= LARGE else await asyncio.to_thread(read, *asked)
        plan = active.routes.plan(call.model, self.endpoint, key)
        bounds = patience(active.settings, call)
        budget = self.cell.budget(call.model)
        given = call, plan, active, self.cell.state, self.upstreams, self.clock, self.draw, self.observer
        meter = active.routes.meters.get(key.id) if key is not None else None
        if meter is not None and (pause := meter.admit(estimate(body))):
            message = "this key has used up its requests or tokens of the last minute"
            raise Refused(429, message, "RATE_LIMIT_KEY", "local_limit", pause)
        return Relay(*given, bounds, budget, key=key, meter=meter)

    async def _serve(self, relay: Relay, send: Send, begun: float) -> None:
        """Run the relay and tell the client. Cancelled when the client hangs up, which touches no health."""
        self.observer.begun()
        sent, outcome = Sent(LEFT.status), LEFT
        opened: Opened | None = None
        settings = relay.active.settings
        client = Client(send, settings.value("limits.unread"))
        try:
            after = settings.value("limits.heartbeat") if holds_events(relay.call) else 0.0
            found = await client.waiting(self._run(relay), after, answers.headers(relay.call.id, 1, None))
            if self.token and administers(relay.call.headers, self.token):
                client.beside += _beside(found, relay)
            if isinstance(found, Opened):
                opened = found
                if relay.emergency:
                    await client.disclose(answers.emergency(relay.emergency))
                self.observer.opened(found.attempt, begun, relay.waited)
                sent = await deliver(found, relay, client)
                outcome = Outcome(sent.status, OK, Said())
                if sent.verdict is not None:
                    outcome = replace(of_attempt(relay.ledger.attempted[-1]), status=sent.status)
            else:
                sent = await self._answer(found, relay, client)
                outcome = replace(found, status=sent.status)
        except Stuck:
            log.info("unread request id=%s: the client does not read its answer and is given up", relay.call.id)
        finally:
            client.close()
            if outcome is not LEFT:  # what an answer takes that nobody waits for is not known
                relay.settle(opened)
            if opened is not None:
                await opened.attempt.close()
            relay.finish()
            self.observer.answered(relay, opened.attempt if opened else None, outcome, sent.size, begun)
            ledger = relay.ledger
            target = opened.attempt.target.label if opened is not None else "-"
            if target == "-" and ledger.attempted:
                target = ledger.attempted[-1].target.label
            model, reason = relay.call.model, outcome.reason
            attempts = ledger.dispatched
            _line(relay.call.id, self.endpoint, model, target, outcome.status, attempts, reason, outcome.rule, begun)

    async def _run(self, relay: Relay) -> Opened | Outcome:
        """What the relay comes to; a fault of ours is an outcome in the client's wire."""
        try:
            return await relay.run()
        except Exception:
            log.exception("request id=%s failed here", relay.call.id)
            return BROKEN

    async def _answer(self, outcome: Outcome, relay: Relay, client: Client) -> Sent:
        told = tell(relay.active.policy, self.endpoint, relay.call.headers, outcome, relay.ledger)
        if client.started:
            event = answers.event(self.endpoint, outcome, told.status in RETRYABLE, 0, relay.call.id, told)
            await client.end(event)
            return Sent(200, len(event))
        body = answers.body(self.endpoint, outcome, relay.ledger, relay.call.id, told)
        attempted = relay.ledger.attempted
        target = attempted[-1].target.label if attempted else None
        headers = answers.headers(relay.call.id, relay.ledger.dispatched, target, outcome, told)
        await client.start(told.status, [*_described(body), *headers])
        await client.end(body)
        return Sent(told.status, len(body))

    async def _refuse(self, id: str, refused: Refused, asked: Pairs, send: Send) -> int:
        said = Said(refused.message, refused.code)
        outcome = Outcome(refused.status, refused.reason, said, retry_after=refused.retry_after)
        told = tell(self.cell.active.policy, self.endpoint, asked, outcome)
        body = answers.body(self.endpoint, outcome, None, id, told)
        await _send(send, told.status, answers.headers(id, 0, None, outcome, told), body)
        return told.status


@dataclass(frozen=True, slots=True)
class Models:
    """`GET /v1/models` as an ASGI application: combos, and what the connections declare."""

    cell: Cell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """List the models this key may use."""
        active = self.cell.active
        id = f"fw-{secrets.token_urlsafe(ID_BYTES)}"
        try:
            key = known(tuple(scope["headers"]), scope["query_string"], active.settings.keys)
        except Refused as refused:
            outcome = Outcome(refused.status, refused.code, Said(refused.message, refused.code))
            await _send(
                send, refused.status, answers.headers(id, 0, None), answers.body(ENDPOINTS[0], outcome, None, id)
            )
            return
        listed = [
            {"id": name, "object": "model", "created": 0, "owned_by": by} for name, by in active.routes.names(key)
        ]
        body = json.dumps({"object": "list", "data": listed}, ensure_ascii=False).encode()
        await _send(send, 200, [(b"x-faultwise-request-id", id.encode())], body)


def _beside(found: Opened | Outcome, relay: Relay) -> Pairs:
    """What only the operator is told."""
    attempted = relay.ledger.attempted
    if isinstance(found, Opened):
        return answers.connection(found.attempt.target.connection.id)
    return answers.connection(attempted[-1].target.connection.id) if attempted else ()


async def _attended(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Do the work unless the client hangs up first; then the work is cancelled at once."""
    task = asyncio.current_task()
    assert task is not None, "requests are served in tasks"
    left = False

    def leave(watch: asyncio.Task[None]) -> None:
        nonlocal left
        left = True
        task.cancel()

    watch = asyncio.create_task(disconnected(receive))
    watch.add_done_callback(leave)
    try:
        await work
    except asyncio.CancelledError:
        if not left:
            raise
        task.uncancel()
    finally:
        watch.remove_done_callback(leave)
        watch.cancel()


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*_described(body), *headers]})
    await send({"type": "http.response.body", "body": body})


def _described(body: bytes) -> tuple[tuple[bytes, bytes], ...]:
    return (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())


def _line(
    id: str,
    endpoint: Endpoint,
    model: str,
    target: str,
    status: int,
    attempts: int,
    reason: str,
    rule: str | None,
    begun: float,
) -> None:
    """One line per request; never a credential, a prompt or an answer."""
    if log.isEnabledFor(logging.INFO):
        taken = (time.perf_counter() - begun) * 1000
        log.info(
            "request id=%s endpoint=%s model=%s target=%s status=%d attempts=%d reason=%s rule=%s ms=%.1f",
            *(id, endpoint.name, json.dumps(model), json.dumps(target), status, attempts, reason, rule or "-", taken),
        )
