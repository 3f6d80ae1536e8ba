"""A client over bare sockets, cheap enough not to be what is measured, that looks at every answer to its last byte."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

PATIENCE = 60.0  # seconds without an answer after which it counts as none
TEXT = b"from-the-origin"
FILL = "hello " * 60
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
_FIELD = re.compile(rb"\r\n([A-Za-z-]+): ?([^\r]*)")


class Cut(Exception):
    """The connection ended before the answer was whole."""


@dataclass(slots=True)
class Heard:
    """An answer."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes = b""

    @property
    def events(self) -> bool:
        return self.headers.get(b"content-type", b"").startswith(b"text/event-stream")

    @property
    def attempts(self) -> int:
        return int(self.headers.get(b"x-faultwise-attempts", b"0"))

    @property
    def reason(self) -> str:
        return self.headers.get(b"x-faultwise-reason", b"-").decode()


@dataclass(slots=True)
class Tally:
    """What became of the requests."""

    answered: int = 0
    unanswered: int = 0  # no answer, or none within PATIENCE
    cut: int = 0  # an answer that is not whole
    half_formed: int = 0  # streams with an event that is none, or without their end
    ours: int = 0  # 500s that are a fault of the proxy itself
    faults: int = 0  # requests that met a fault of an upstream
    shown: int = 0  # of these, that a client was told of in the middle of its stream
    left: int = 0  # requests whose client hung up
    others: Counter[str] = field(default_factory=Counter)  # answers that are no success, by status and reason
    examples: dict[str, str] = field(default_factory=dict)

    def note(self, what: str, example: object) -> None:
        self.examples.setdefault(what, str(example)[:400])

    def judge(self, model: str, heard: Heard) -> None:
        """Enter an answer."""
        self.answered += 1
        broke = heard.events and b'"error"' in heard.body
        self.faults += heard.attempts > 1 or broke
        if heard.status != 200:
            self.others[f"{heard.status} {heard.reason}"] += 1
            self.ours += heard.reason == "internal_error"
            self.note(f"{model}: {heard.status} {heard.reason}", heard.body)
        elif heard.events:
            self.shown += broke
            if not formed(heard.body):
                self.half_formed += 1
                self.note(f"{model}: half-formed", heard.body[-300:])
        elif TEXT not in heard.body:
            self.half_formed += 1
            self.note(f"{model}: not the answer", heard.body[:300])


def formed(body: bytes) -> bool:
    """Whether a stream consists of whole events and ends as the wire says."""
    blocks = body.split(b"\n\n")
    if blocks.pop() != b"" or not blocks or blocks[-1] != b"data: [DONE]":
        return False
    for block in blocks[:-1]:
        for line in block.split(b"\n"):
            if line.startswith((b":", b"event: ")):
                continue
            if not line.startswith(b"data: "):
                return False
            try:
                json.loads(line[6:])
            except ValueError:
                return False
    return True


class Caller:
    """One connection, opened again where it was closed."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def send(self, model: str, stream: bool, path: str = "/v1/chat/completions", body: bytes = b"") -> None:
        """Send a request."""
        if self._writer is None or self._writer.is_closing() or (self._reader is not None and self._reader.at_eof()):
            self.close()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        message = {"model": model, "stream": stream, "messages": [{"role": "user", "content": FILL}]}
        body = body or json.dumps(message).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)

    async def head(self) -> Heard:
        """Status and headers."""
        assert self._reader is not None, "sent"
        head = await self._reader.readuntil(b"\r\n\r\n")
        found = _STATUS.match(head)
        assert found is not None, head
        return Heard(int(found[1]), {name.lower(): value for name, value in _FIELD.findall(head)})

    async def pieces(self, heard: Heard) -> AsyncIterator[bytes]:
        """The body, piece by piece. Raises `Cut`."""
        assert self._reader is not None, "sent"
        try:
            if (length := heard.headers.get(b"content-length")) is not None:
                yield await self._reader.readexactly(int(length))
                return
            while size := int(await self._reader.readuntil(b"\r\n"), 16):
                yield (await self._reader.readexactly(size + 2))[:-2]
            await self._reader.readexactly(2)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise Cut from None

    async def ask(self, model: str, stream: bool = False) -> Heard:
        """A request and its whole answer."""
        await self.send(model, stream)
        heard = await self.head()
        try:
            heard.body = b"".join([one async for one in self.pieces(heard)])
        except Cut:
            self.close()
            raise
        if heard.headers.get(b"connection") == b"close":
            self.close()
        return heard

    async def get(self, path: str) -> Heard:
        """A GET and its answer, on a connection of its own."""
        self.close()
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        self._writer.write(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        heard = await self.head()
        heard.body = b"".join([one async for one in self.pieces(heard)])
        self.close()
        return heard

    def pause(self) -> None:
        """Read nothing more."""
        assert self._writer is not None, "sent"
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None


async def tried(caller: Caller, model: str, stream: bool, tally: Tally) -> None:
    """A request that is entered into the tally, whatever becomes of it."""
    try:
        async with asyncio.timeout(PATIENCE):
            tally.judge(model, await caller.ask(model, stream))
    except Cut:
        tally.cut += 1
        tally.note(f"{model}: cut", "")
    except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
        caller.close()
        tally.unanswered += 1
        tally.note(f"{model}: unanswered", repr(error))


async def left(caller: Caller, model: str, stream: bool, after: float, tally: Tally) -> None:
    """A request whose client hangs up after a while, wherever its answer is by then."""
    with suppress(OSError):
        await caller.send(model, stream)
        await asyncio.sleep(after)
    caller.close()
    tally.left += 1
