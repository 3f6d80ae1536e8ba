"""One attempt at one target: what was sent, and what came back, up to the point where it can be judged.

The result is an `Opened` answer that may be committed to the client, or the `Decision` about what was seen instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

import httpx

from faultwise.engine.failure.record import BODY_LIMIT, REQUEST_LIMIT, Failure, Headers
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import Decision, conclude

from .deadline import TOTAL, Late, within
from .endpoint import address
from .glance import ordinary
from .headers import up
from .kinds import FAILURES, kind
from .request import Call, Pairs
from .stream import Head
from .target import Target
from .upstream import Upstreams

ERROR_BODY_PATIENCE = 5.0  # seconds for what an error says, once its status is known


@dataclass(slots=True)
class Attempt:
    """One try. `started` is a time of the clock, `until` one of the loop."""

    call: Call
    target: Target
    policy: Policy
    number: int
    started: float
    until: float
    clock: Callable[[], float]
    response: httpx.Response | None = field(default=None, init=False)
    chunks: AsyncIterator[bytes] | None = field(default=None, init=False)
    headers: Pairs = field(default=(), init=False)

    async def open(self, upstreams: Upstreams) -> Opened | Decision:
        """Send the request and read until the answer can be judged. Closes the upstream unless it opened."""
        try:
            found = await self._open(upstreams)
        except BaseException:
            await self.close()
            raise
        if isinstance(found, Decision):
            await self.close()
        return found

    async def close(self) -> None:
        """End the upstream request, whatever state it is in."""
        response, self.response = self.response, None
        if response is not None:
            await response.aclose()

    async def chunk(self) -> bytes:
        """The next bytes of the answer, empty at its end. Raises `Late` and what the transport raises."""
        assert self.chunks is not None, "read after the head only"
        idle = asyncio.get_running_loop().time() + self.target.connection.deadlines.idle
        return await within(_next(self.chunks), idle, "idle_timeout", self.until)

    def judge(self, phase: str, *, kind: str | None = None, body: bytes = b"") -> Decision:
        """The decision about what was seen here. One that is ours (`local_limit`) is local whatever the phase."""
        if kind == TOTAL:
            phase = "local"
        connection = self.target.connection
        failure = Failure(
            provider=self.target.provider,
            now=self.clock(),
            status=self.response.status_code if self.response is not None and kind is None else None,
            headers=Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in self.headers]),
            body=body[:BODY_LIMIT],
            phase=phase,
            kind=kind,
            connection=connection.id,
            model=self.target.model,
            host=connection.host,
            egress=connection.egress,
            wire=connection.wire,
            auth=self.target.auth,
            attempt=self.number,
            request=self.call.body[:REQUEST_LIMIT],
        )
        return conclude(self.policy, failure)

    async def _open(self, upstreams: Upstreams) -> Opened | Decision:
        deadlines = self.target.connection.deadlines
        loop = asyncio.get_running_loop()
        try:
            at = loop.time() + deadlines.first_byte
            response = await within(upstreams.send(self._request()), at, "first_byte_timeout", self.until)
            self._take(response)
            if not 200 <= response.status_code < 300:
                return self._unless_fine("response", await self._error_body())
            content_type = response.headers.get("content-type", "")
            if content_type.startswith("text/event-stream"):
                return await self._open_stream(loop.time() + deadlines.first_content)
            if "json" in content_type or content_type.startswith("text/") or not content_type:
                return await self._open_document()
        except Late as late:
            return self.judge("transport", kind=late.kind)
        except FAILURES as error:
            return self.judge("transport", kind=kind(error, "idle_timeout" if self.response else "first_byte_timeout"))
        return Opened(self, b"", None)

    def _take(self, response: httpx.Response) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream), "the transport is an asynchronous one"
        self.response = response
        self.headers = tuple((name.lower(), value) for name, value in response.headers.raw)
        self.chunks = response.stream.__aiter__()

    async def _open_stream(self, at: float) -> Opened | Decision:
        """Hold the stream back until its first content."""
        assert self.response is not None, "its head was read"
        head = Head(self.policy.envelopes, self.response.headers.get("content-type", ""))
        while not head.content:
            chunk = await within(self.chunk(), at, "first_content_timeout", self.until)
            if chunk:
                head.feed(chunk)
            else:
                head.end()
            if head.error:
                return self._unless_fine("stream_start", head.held, head)
            if not chunk:
                break
        if not head.content and not head.finished:
            return self.judge("transport", kind="truncated")  # it ended without saying anything
        return Opened(self, head.held, head)

    async def _open_document(self) -> Opened | Decision:
        """Read an answer that is no stream, up to the size an error can have."""
        held = bytearray()
        whole = False
        while len(held) <= BODY_LIMIT and not whole:
            chunk = await self.chunk()
            held += chunk
            whole = not chunk
        assert self.response is not None, "its head was read"
        if whole and not held and self.response.status_code == 200:
            return self.judge("transport", kind="truncated")
        body = bytes(held)
        if whole and not ordinary(body):
            return self._unless_fine("body", body)
        return Opened(self, body, None, whole)

    def _unless_fine(self, phase: str, body: bytes, head: Head | None = None) -> Opened | Decision:
        """The decision about an answer that looks wrong; the answer itself where the policy finds nothing in it."""
        decision = self.judge(phase, body=body)
        return decision if decision.verdict.failed else Opened(self, body, head, whole=phase == "body")

    async def _error_body(self) -> bytes:
        """What an error says, as far as it can be read: a failure here takes nothing from what is known."""
        held = bytearray()
        at = asyncio.get_running_loop().time() + ERROR_BODY_PATIENCE
        with suppress(Late, *FAILURES):
            while len(held) < BODY_LIMIT:
                chunk = await within(self.chunk(), at, "idle_timeout", self.until)
                if not chunk:
                    break
                held += chunk
        return bytes(held)

    def _request(self) -> httpx.Request:
        call, target = self.call, self.target
        url = address(target.root, call.endpoint, call.path, target.model)
        query = _without_key(call.query)
        connect = target.connection.deadlines.connect
        return httpx.Request(
            "POST",
            _parsed(f"{url}?{query}" if query else url),
            headers=up(call.headers, target),
            content=call.body_for(target.model),
            # `pool` is the whole of getting a connection, names and handshakes included; there is no bound to wait for
            extensions={"timeout": {"connect": connect, "pool": connect, "read": None, "write": None}},
        )


@dataclass(slots=True)
class Opened:
    """An answer that may be committed: what was read of it, and the attempt that has the rest."""

    attempt: Attempt
    held: bytes
    head: Head | None  # of a stream of events
    whole: bool = False  # nothing is left to read


async def _next(chunks: AsyncIterator[bytes]) -> bytes:
    async for chunk in chunks:
        if chunk:
            return chunk
    return b""


# Reading an address costs as much as all else that is done with it, and there are few of them.
_parsed = lru_cache(maxsize=1024)(httpx.URL)


def _without_key(query: bytes) -> str:
    """The query without a client's own `key`."""
    return "&".join(part for part in query.decode("latin-1").split("&") if part and not part.startswith("key="))
