"""The client's side of one request: what it was sent, what goes out while it has to wait, and when it is given up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from math import inf
from typing import Any, TypeVar

from starlette.types import Send

from .alarm import Alarm
from .request import Call, Pairs

T = TypeVar("T")
COMMENT = b": waiting\n\n"
EVENTS = frozenset(("chat", "completions", "responses", "messages"))  # endpoints whose streams are server-sent events
HEAD = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache"))


class Stuck(Exception):
    """The client does not read what it is sent."""


class Client:
    """Belongs to the task of its request. `patience`: seconds a piece of an answer may stay unread."""

    __slots__ = ("started", "beside", "_send", "_patience", "_alarm", "_stop")

    def __init__(self, send: Send, patience: float) -> None:
        self.started = False  # status and headers are out
        self.beside: Pairs = ()  # headers for this client beside those of the answer
        self._send = send
        self._patience = patience
        self._alarm = Alarm()
        self._stop: asyncio.Event | None = None  # of the comments

    async def start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Send status and headers, unless comments have done so."""
        if not self.started:
            self.started = True
            await self._send({"type": "http.response.start", "status": status, "headers": [*headers, *self.beside]})

    async def disclose(self, headers: Pairs) -> None:
        """Tell what an answer is not to hide: in its headers; where those are out, in comments before it."""
        self.beside += headers
        if self.started:
            await self.piece(b"".join(b": %b: %b\n\n" % pair for pair in headers))

    async def piece(self, body: bytes) -> None:
        """Send a piece of the body. Raises `Stuck`."""
        self._alarm.set(self._patience, inf)
        try:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
        except asyncio.CancelledError:
            if self._alarm.rang():
                raise Stuck from None
            raise
        finally:
            self._alarm.off()

    def close(self) -> None:
        """Nothing more is sent."""
        self._alarm.close()

    async def end(self, body: bytes = b"") -> None:
        """Send the last piece."""
        await self._send({"type": "http.response.body", "body": body})

    async def waiting(self, work: Coroutine[Any, Any, T], after: float, headers: list[tuple[bytes, bytes]]) -> T:
        """What `work` comes to. Takes it long, comments go out every `after` seconds; 0: none do.

        They commit the client to a stream that is answered with 200, and nothing else.
        """
        if not after:
            return await work
        beats: list[asyncio.Task[None]] = []
        loop = asyncio.get_running_loop()
        handle = loop.call_later(after, lambda: beats.append(loop.create_task(self._beat(after, headers))))
        try:
            return await work
        finally:
            handle.cancel()
            if self._stop is not None:
                self._stop.set()
            for beat in beats:
                await beat  # a comment is never sent in part

    async def _beat(self, every: float, headers: list[tuple[bytes, bytes]]) -> None:
        stop = self._stop = asyncio.Event()
        await self.start(200, [*HEAD, *headers])
        while not stop.is_set():
            await self.piece(COMMENT)
            try:
                async with asyncio.timeout(every):
                    await stop.wait()
            except TimeoutError:
                continue


def holds_events(call: Call) -> bool:
    """Whether the client of a call awaits server-sent events, so that comments may stand before them."""
    return call.stream and (call.endpoint.name in EVENTS or b"alt=sse" in call.query)
