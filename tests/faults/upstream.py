"""A real upstream on a socket that answers as it is told, badly where it is told to. Nothing here sleeps: a pause lasts
until it is released.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

PATIENCE = 10.0  # seconds after which a test that waits has failed


class Pause:
    """A place in an answer where the upstream waits. `reached`: it is there; `left`: the other side hung up meanwhile."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.left = threading.Event()
        self._released = threading.Event()

    def release(self) -> None:
        self._released.set()

    async def wait(self, reader: asyncio.StreamReader) -> bool:
        """Whether the other side is still there once released."""
        self.reached.set()
        while not self._released.is_set():
            if reader.at_eof() or reader.exception() is not None:
                self.left.set()
                return False
            await asyncio.sleep(0.005)
        return True


RESET = "reset"  # the connection is reset
CLOSE = "close"  # the connection is closed without the end its framing promises
Part = bytes | Pause | str


@dataclass(frozen=True)
class Answer:
    """What to answer. A body of parts is sent chunked, each part by itself; `before` happens before the status line."""

    status: int = 200
    body: bytes | Sequence[Part] = b""
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    before: Sequence[Part] = ()


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ok(text: str = "hi", **more: Any) -> Answer:
    """A good chat completion."""
    message = {"role": "assistant", "content": text}
    document = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        **more,
    }
    return Answer(body=json.dumps(document).encode())


def error(status: int, message: str = "", headers: dict[str, str] | None = None, **fields: Any) -> Answer:
    """An error object in the OpenAI form."""
    body = json.dumps({"error": {"message": message, **fields}}, ensure_ascii=False).encode()
    return Answer(status, body, {"content-type": "application/json", **(headers or {})})


def sse(*parts: Part | dict[str, Any]) -> Answer:
    """A stream of events: each mapping is the data of one."""
    return Answer(
        body=[event(part) if isinstance(part, dict) else part for part in parts],
        headers={"content-type": "text/event-stream"},
    )


def event(data: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False).encode() + b"\n\n"


def delta(text: str | None = None, finish: str | None = None) -> dict[str, Any]:
    """A chunk of a chat completion."""
    content = {} if text is None else {"content": text}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": content, "finish_reason": finish}],
    }


DONE = b"data: [DONE]\n\n"


class Upstream:
    """The server. Answers in order; the last one again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers) or [ok()]
        self.requests: list[Received] = []
        self.dropped = threading.Event()  # the other side hung up in the middle of an answer
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._listening.wait(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def script(self, *answers: Answer) -> None:
        """Answer so from now on."""
        self.answers = list(answers)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except asyncio.IncompleteReadError:
            pass
        except ConnectionError:
            self.dropped.set()
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; whether the connection stays."""
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ")
        self.requests.append(Received(method, path, headers, body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        for part in answer.before:
            if not await _part(part, reader, writer, chunked=False):
                return False
        whole = isinstance(answer.body, bytes)
        framing = {"content-length": str(len(answer.body))} if whole else {"transfer-encoding": "chunked"}
        sized = "content-length" in answer.headers
        named = {**answer.headers, **({} if sized else framing)}
        lines = [f"HTTP/1.1 {answer.status} X", *(f"{name}: {value}" for name, value in named.items()), "", ""]
        writer.write("\r\n".join(lines).encode("latin-1"))
        if isinstance(answer.body, bytes):
            writer.write(answer.body)
            await writer.drain()
            return True
        for part in answer.body:
            if not await _part(part, reader, writer, chunked=not sized):
                return False
        writer.write(b"" if sized else b"0\r\n\r\n")
        await writer.drain()
        return True


async def _part(part: Part, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, chunked: bool) -> bool:
    if isinstance(part, Pause):
        return await part.wait(reader)
    if part == RESET:
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False
    if part == CLOSE:
        return False
    assert isinstance(part, bytes)
    writer.write(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
    await writer.drain()
    return True
