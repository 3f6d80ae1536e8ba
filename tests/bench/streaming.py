"""Paced streams through the proxy, next to nginx and to bare FastAPI with httpx: delay and processor time of a chunk, and
the memory an open stream costs.

Linux only, for it reads processor times and memory from /proc; needs nginx. The servers that are compared share one core.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import proxying

STREAMS, PACE, CHUNKS = 32, 0.02, 150  # at once, seconds between chunks, of each
WARM, HELD = 100, 400  # streams kept open for the memory, before it is measured and after
ROUNDS = 3
BODY = b'{"model": "bench", "stream": true, "messages": []}'
REQUEST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
)
EVENT = b'data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"%d hello"}}]}\n\n'
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def rows(rounds: int = ROUNDS) -> list[dict[str, object]]:
    """The rows of the table."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None or not sys.platform.startswith("linux"):
        print("streaming: skipped, it needs Linux and nginx", file=sys.stderr)
        return []
    seen: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as name, running(Path(name), nginx) as sides:
        for _ in range(rounds):
            for side, (port, pid) in sides.items():
                seen.setdefault(side, []).append(asyncio.run(paced(port, pid)))
        port, pid = sides["ours"]
        grown = asyncio.run(held(port, pid))
    found = []
    for what, place, yardstick, target in (
        ("32 paced streams, delay of a chunk against nginx", 0, "nginx", "<= 2"),
        ("32 paced streams, processor time of a chunk against bare FastAPI", 1, "bare", "<= 0.33"),
    ):
        mine, theirs = (median(one[place] for one in seen[side]) for side in ("ours", yardstick))
        found.append({"what": what, "us": mine, "yardstick_us": theirs, "ratio": mine / theirs, "target": target})
    each = grown
    found.append(
        {
            "what": "memory of an open stream, in KiB",
            "us": each,
            "yardstick_us": 64,
            "ratio": each / 64,
            "target": "< 1",
        }
    )
    return found


async def paced(port: int, pid: int) -> tuple[float, float]:
    """Of some streams at once: the median delay of a chunk, and the processor time of one, in microseconds."""
    before = processor(pid)
    delays = [delay for one in await asyncio.gather(*(stream(port) for _ in range(STREAMS))) for delay in one]
    return median(delays), (processor(pid) - before) / len(delays) * 1e6


async def stream(port: int) -> list[float]:
    """The delay of each chunk of one stream, in microseconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST % len(BODY) + BODY)
    delays: list[float] = []
    while len(delays) < CHUNKS:
        line = await reader.readuntil(b"hello")
        now = time.monotonic_ns()
        delays.append((now - int(line.rpartition(b'"')[2].split()[0])) / 1000)
    writer.close()
    return delays


async def held(port: int, pid: int) -> float:
    """KiB a stream costs while it is open: first chunk read, the rest to come."""
    writers = []
    before = 0.0
    for number in range(WARM + HELD):
        if number == WARM:
            before = memory(pid)  # what is allocated once is allocated by now
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST % len(BODY) + BODY)
        await reader.readuntil(b"hello")
        writers.append(writer)
    grown = (memory(pid) - before) / HELD
    for writer in writers:
        writer.close()
    return grown


def processor(pid: int) -> float:
    """Seconds of processor time a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """KiB of memory of a process that are in use."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


@contextmanager
def running(folder: Path, nginx: str) -> Iterator[dict[str, tuple[int, int]]]:
    """The origin, and what forwards to it: ports and process ids by side."""
    origin = proxying.free()
    beside = subprocess.Popen([*proxying.pinned(0), sys.executable, __file__, str(origin)])
    try:
        proxying.reachable(origin)
        with proxying.running(folder, nginx, origin) as sides:
            yield sides
    finally:
        beside.terminate()
        beside.wait(20)


async def serve(port: int) -> None:
    """The origin: streams of chunks that say when they were sent."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
                writer.write(HEAD)
                while True:
                    event = EVENT % time.monotonic_ns()
                    writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                    await writer.drain()
                    await asyncio.sleep(PACE)
        except (ConnectionError, asyncio.IncompleteReadError):
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", port, backlog=1024) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
