"""One attempt at one target: what was sent, and what came back, up to the point where it can be judged.

The result is an `Opened` answer that may be committed to the client, or the `Decision` about what was seen instead.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from faultwise.engine.failure.record import BODY_LIMIT, REQUEST_LIMIT, Failure, Headers
from faultwise.engine.policy.policy import Policy
from faultwise.engine.routing.window import windows
from faultwise.engine.verdict.decide import Decision, conclude

from .deadline import TOTAL, Late, within
from .glance import ordinary
from .headers import first, up
from .kinds import FAILURES, kind
from .line import Line
from .request import Call, Pairs
from .stream import Head, Saw
from .target import Target
from .transport import Answer, Outgoing
from .upstream import Upstreams
from .watchdog import MEASURED, Bounds, Watch

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
    bounds: Bounds | None = None  # what is asked of a stream's pace
    line: Line | None = None  # to whom its slot is given back
    answer: Answer | None = field(default=None, init=False)
    headers: Pairs = field(default=(), init=False)  # of the answer
    waited: float = field(default=0.0, init=False)  # seconds, for the upstream
    slow: bool = field(default=False, init=False)  # its stream trickles
    _under_way: bool = field(default=False, init=False)
    _timer: asyncio.Timeout | None = field(default=None, init=False)  # of the wait for the next bytes
    _watch: Watch | None = field(default=None, init=False)
    _round: asyncio.TimerHandle | None = field(default=None, init=False)  # when the stream's pace is judged next

    async def open(self, upstreams: Upstreams) -> Opened | Decision:
        """Send the request and read until the answer can be judged. Closes the upstream unless it opened."""
        record, begun = self.target.record, time.perf_counter()
        turn = record.sent(self.started)
        self._under_way = True
        try:
            found = await self._open(upstreams)
        except BaseException:
            await self.close()
            raise
        if isinstance(found, Decision):
            await self.close()
        else:
            record.opened(turn, time.perf_counter() - begun, self.started)
        return found

    async def close(self) -> None:
        """End the upstream request, whatever state it is in."""
        if self._under_way:
            self._under_way = False
            self.target.record.left()
        if self._round is not None:
            self._round.cancel()
        line, self.line = self.line, None
        if line is not None:
            line.leave()
        answer, self.answer = self.answer, None
        if answer is not None:
            await answer.close()

    async def chunk(self) -> bytes:
        """The next bytes of the answer, empty at its end. Raises `Late` and what the transport raises."""
        answer = self.answer
        assert answer is not None, "read after the head only"
        here = answer.ready()
        if here is not None:
            return here
        idle = asyncio.get_running_loop().time() + self.target.connection.deadlines.idle
        begun = time.perf_counter()
        try:
            async with asyncio.timeout_at(min(idle, self.until)) as timer:
                self._timer = timer
                return await answer.read()
        except TimeoutError:
            if not timer.expired():
                raise
            raise Late("slow_stream" if self.slow else "idle_timeout" if idle <= self.until else TOTAL) from None
        finally:
            self._timer = None
            self.waited += time.perf_counter() - begun

    def judge(self, phase: str, *, kind: str | None = None, body: bytes = b"") -> Decision:
        """The decision about what was seen here. One that is ours (`local_limit`) is local whatever the phase."""
        if kind == TOTAL:
            phase = "local"
        connection = self.target.connection
        failure = Failure(
            provider=self.target.provider,
            now=self.clock(),
            status=self.answer.status if self.answer is not None and kind is None else None,
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
        decision = conclude(self.policy, failure)
        if decision.verdict.failed and decision.verdict.scope != "request":
            self.target.record.failed(failure.now)
        return decision

    async def _open(self, upstreams: Upstreams) -> Opened | Decision:
        deadlines = self.target.connection.deadlines
        loop = asyncio.get_running_loop()
        try:
            answer = self.answer = await self._sent(upstreams, loop.time() + deadlines.first_byte)
            self.headers = answer.headers
            if self.target.record.watched:
                self._note()
            if not 200 <= answer.status < 300:
                return self._unless_fine("response", await self._error_body())
            content_type = first(answer.headers, b"content-type")
            if content_type.startswith("text/event-stream"):
                return await self._open_stream(content_type, loop.time() + deadlines.first_content)
            if "json" in content_type or content_type.startswith("text/") or not content_type:
                return await self._open_document()
        except Late as late:
            return self.judge("transport", kind=late.kind)
        except FAILURES as error:
            return self.judge("transport", kind=kind(error, "idle_timeout" if self.answer else "first_byte_timeout"))
        return Opened(self, b"", None)

    def _note(self) -> None:
        """Note what the answer says about quotas."""
        told = windows(
            {name.decode("latin-1"): value.decode("latin-1") for name, value in self.headers}.get, self.clock()
        )
        if told:
            self.target.record.windows = told

    async def _sent(self, upstreams: Upstreams, at: float) -> Answer:
        request = self._request()
        begun = time.perf_counter()
        try:
            return await within(upstreams.send(request), at, "first_byte_timeout", self.until)
        finally:
            self.waited += time.perf_counter() - begun

    async def _open_stream(self, content_type: str, at: float) -> Opened | Decision:
        """Hold the stream back until its first content."""
        head = Head(self.policy.envelopes, content_type, self._watched())
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

    def _watched(self) -> Saw | None:
        """Begin to watch the stream's pace; who is to be told of its events."""
        if self.bounds is None or self.call.endpoint.name not in MEASURED:
            return None
        loop = asyncio.get_running_loop()
        watch = self._watch = Watch(self.bounds, loop.time())
        self._round = loop.call_at(watch.due(), self._pace)
        return lambda event: watch.saw(event, loop.time())

    def _pace(self) -> None:
        """Judge the stream's pace, and come again when that may have changed."""
        assert self._watch is not None, "the timer is set with it"
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._watch.slow(now):
            if self._timer is not None:
                self.slow = True
                self._timer.reschedule(now)
                return
            self._watch.restart(now)  # it is the client who does not fetch what is there
        self._round = loop.call_at(self._watch.due(), self._pace)

    async def _open_document(self) -> Opened | Decision:
        """Read an answer that is no stream, up to the size an error can have."""
        held = bytearray()
        whole = False
        while len(held) <= BODY_LIMIT and not whole:
            chunk = await self.chunk()
            held += chunk
            whole = not chunk
        assert self.answer is not None, "its head was read"
        if whole and not held and self.answer.status == 200:
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

    def _request(self) -> Outgoing:
        call, target = self.call, self.target
        outlet = target.outlet
        return Outgoing(
            origin=outlet.origin,
            host=outlet.host,
            path=outlet.path(call.endpoint, call.path, target.model, call.query),
            headers=up(call.headers, outlet.dropped, outlet.headers),
            body=call.body_for(target.model),
            connect=target.connection.deadlines.connect,
            repeatable=not call.endpoint.billed,
        )


@dataclass(slots=True)
class Opened:
    """An answer that may be committed: what was read of it, and the attempt that has the rest."""

    attempt: Attempt
    held: bytes
    head: Head | None  # of a stream of events
    whole: bool = False  # nothing is left to read
