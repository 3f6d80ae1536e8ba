"""One attempt at one target: what was sent, and what came back, up to the point where it can be judged.

The result is an `Opened` answer that may be committed to the client, or the `Decision` about what was seen instead.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from faultwise.engine.failure.record import BODY_LIMIT, REQUEST_LIMIT, Failure, Headers
from faultwise.engine.failure.stream import Event
from faultwise.engine.policy.policy import Policy
from faultwise.engine.routing.quota import tells
from faultwise.engine.verdict.decide import Decision, conclude

from .alarm import Alarm
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
from .usage import Usage
from .watchdog import MEASURED, Bounds, Watch

EVENTS = "text/event-stream"
FRAMES = "application/vnd.amazon.eventstream"
UNFIT = 502  # what an answer stands for that no endpoint gives
STREAM_START = 16  # bytes that show whether events begin
TEXTUAL = (
    b"{",
    b"[",
    b"<",
    b" ",
    b"\n",
    b"\r",
    b"\t",
    b"\xef",
    b"\x1f",
)  # first bytes of errors: JSON, pages, packed ones
_STREAM = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")
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
    usage: Usage | None = None  # where somebody asks for what it takes
    answer: Answer | None = field(default=None, init=False)
    headers: Pairs = field(default=(), init=False)  # of the answer
    waited: float = field(default=0.0, init=False)  # seconds, for the upstream
    slow: bool = field(default=False, init=False)  # its stream trickles
    _under_way: bool = field(default=False, init=False)
    _alarm: Alarm = field(default_factory=Alarm, init=False)  # of the wait for the next bytes
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
        self._alarm.close()
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
        alarm, begun = self._alarm, time.perf_counter()
        alarm.set(self.target.connection.deadlines.idle, self.until)
        try:
            return await answer.read()
        except asyncio.CancelledError:
            if alarm.rang():
                raise Late(self._late()) from None
            raise
        finally:
            alarm.off()
            self.waited += time.perf_counter() - begun

    def _late(self) -> str:
        if self.slow:
            return "slow_stream"
        return TOTAL if asyncio.get_running_loop().time() >= self.until else "idle_timeout"

    def judge(self, phase: str, *, kind: str | None = None, body: bytes = b"", status: int | None = None) -> Decision:
        """The decision about what was seen here. `status`: under which it is judged, if not the answer's. One that is ours (`local_limit`) is local whatever the phase."""
        if kind == TOTAL:
            phase = "local"
        connection = self.target.connection
        failure = Failure(
            provider=self.target.provider,
            now=self.clock(),
            status=status or (self.answer.status if self.answer is not None and kind is None else None),
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
            well = 200 <= answer.status < 300
            if well or tells(answer.headers):
                self.target.quota.hear(self.target.model, answer.headers, self.clock())
            if not well:
                return await self._open_refusal()
            content_type = first(answer.headers, b"content-type").lower()
            content_at = loop.time() + deadlines.first_content
            if content_type.startswith(EVENTS):
                return await self._open_stream(content_type, content_at)
            if not content_type.startswith(FRAMES):
                return await self._open_other(content_at)
        except Late as late:
            return self.judge("transport", kind=late.kind)
        except FAILURES as error:
            return self.judge("transport", kind=kind(error, "idle_timeout" if self.answer else "first_byte_timeout"))
        return Opened(self, b"", None)

    async def _sent(self, upstreams: Upstreams, at: float) -> Answer:
        request = self._request()
        begun = time.perf_counter()
        try:
            return await within(upstreams.send(request), at, "first_byte_timeout", self.until)
        finally:
            self.waited += time.perf_counter() - begun

    async def _open_refusal(self) -> Decision:
        """The decision about a status that is no success. A redirect would lead the client past the gateway."""
        body = await self._error_body()
        decision = self.judge("response", body=body)
        return decision if decision.verdict.failed else self.judge("response", body=body, status=UNFIT)

    async def _open_stream(self, content_type: str, at: float, begun: bytes = b"") -> Opened | Decision:
        """Hold the stream back until its first content. `begun`: what was read of it already."""
        if first(self.headers, b"content-encoding").lower() not in ("", "identity"):
            return self.judge("transport", kind="bad_encoding")  # packed, though it was asked not to be
        head = Head(self.policy.envelopes, content_type, self._watched())
        while not head.content:
            chunk, begun = begun or await within(self.chunk(), at, "first_content_timeout", self.until), b""
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
        """Who is to be told of the stream's events: who counts its tokens, who watches its pace."""
        counts, paces = self.usage.event if self.usage is not None else None, self._paced()
        if counts is None or paces is None:
            return counts or paces

        def both(event: Event) -> None:
            counts(event)
            paces(event)

        return both

    def _paced(self) -> Saw | None:
        """Begin to watch the stream's pace."""
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
            if self._alarm.waiting:
                self.slow = True
                self._alarm.ring()
                return
            self._watch.restart(now)  # it is the client who does not fetch what is there
        self._round = loop.call_at(self._watch.due(), self._pace)

    async def _open_other(self, at: float) -> Opened | Decision:
        """Read an answer that is not called a stream, up to the size an error can have: it is what its bytes are."""
        held = bytearray()
        whole = False
        audio = self.call.endpoint.name == "audio"
        while len(held) <= BODY_LIMIT and not whole:
            chunk = await self.chunk()
            held += chunk
            whole = not chunk
            if audio and held and not held.startswith(TEXTUAL):
                return Opened(self, bytes(held), None, whole)  # sound is passed on as it comes
            if not audio and (whole or len(held) >= STREAM_START) and _STREAM.match(held):
                self._call_it_a_stream()
                return await self._open_stream(EVENTS, at, bytes(held))
        if whole and not held:
            return self.judge("transport", kind="truncated")  # whatever its status: each endpoint has an answer
        body = bytes(held)
        if ordinary(body[:BODY_LIMIT], self.policy.envelopes):
            return Opened(self, body, None, whole)
        return self._unless_fit(body, whole, audio)

    def _call_it_a_stream(self) -> None:
        """Let the client know that a stream of events comes, whatever the upstream called it."""
        others = (pair for pair in self.headers if pair[0] != b"content-type")
        self.headers = (*others, (b"content-type", EVENTS.encode()))

    def _unless_fit(self, body: bytes, whole: bool, audio: bool) -> Opened | Decision:
        """The decision about what came in place of an answer; the answer where it is one all the same.

        What is no JSON where only JSON answers is some proxy's page or sentence. It is judged as it would be under 502.
        """
        decision = self.judge("body", body=body)
        cut = not whole and decision.reading.kind == "bad_encoding"  # of something packed, which cannot be read in part
        if decision.verdict.failed and not cut:
            return decision
        if not audio and not cut and decision.reading.body.lstrip()[:1] not in ("{", "["):
            return self.judge("response", body=body, status=UNFIT)
        return Opened(self, body, None, whole)

    def _unless_fine(self, phase: str, body: bytes, head: Head) -> Opened | Decision:
        """The decision about an answer that looks wrong; the answer itself where the policy finds nothing in it."""
        decision = self.judge(phase, body=body)
        return decision if decision.verdict.failed else Opened(self, body, head)

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

    def used(self) -> int | None:
        """The tokens it says it took, as far as that was seen."""
        usage = self.attempt.usage
        if usage is not None and self.whole:
            usage.document(self.held)
        return usage.tokens if usage is not None else None
