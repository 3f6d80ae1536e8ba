"""`make soak`: many requests, some of them at upstreams that fail in every way, while streams are held open. Bounded; never a test.

`python tests/bench/soak.py --requests 20000 --streams 64 --workers 2` is a shorter one. Linux only, for memory is read from
/proc. Exit code 1 where a request went without an answer, a stream was broken, a slot stayed taken, or memory grew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from caller import Caller, Cut, Heard, Tally, formed, left, tried
from house import House, told
from origin import ANSWERS, ENDS, HIDDEN, MIDDLE
from proxying import free

STREAMED = 0.3  # of the requests
LEAVE = 0.01  # of the requests: the client hangs up
RESET = 0.25  # seconds between two resets, so that what failed is asked again
LOOK = 1.0  # seconds between looks at memory
GROWTH = 0.10  # of the memory of the first quarter, that the last may be above it
SHORT = {"connect": "1s", "first_byte": "1s", "first_content": "1s", "idle": "3s"}  # where something is going to stall
REFUSED = "refused"  # nobody listens there
KINDS = (*HIDDEN, *MIDDLE, REFUSED)
STREAMS_ONLY = frozenset((*MIDDLE, "first-event", "empty-stream", "stalls-open", "trickles"))


def configuration(origin: int, nobody: int, streams: int) -> str:
    """A connection for each kind of fault, in a combo of its own before one that is well. JSON is YAML."""
    base = f"http://127.0.0.1:{origin}/v1"
    at = {"base_url": base, "wire": "openai", "secret": "key-of-the-origin"}
    connections: list[dict[str, object]] = [
        {"id": "well", "provider": "well", **at, "max_concurrent": 200},
        {"id": "held", "provider": "held", **at, "max_concurrent": max(1, streams)},
    ]
    combos: dict[str, object] = {
        "ok": {"targets": [{"connection": "well", "model": "ok"}]},
        "held": {"targets": [{"connection": "held", "model": "held"}]},
    }
    for kind in KINDS:
        url = f"http://127.0.0.1:{nobody}/v1" if kind == REFUSED else base
        provider = "agentrouter" if kind.startswith(("quota", "no-access")) else f"of-{kind}"
        own = {"base_url": url, "max_concurrent": 50, "deadlines": SHORT}
        connections.append({"id": kind, "provider": provider, **at, **own})
        combos[kind] = {"targets": [{"connection": kind, "model": kind}, {"connection": "well", "model": "ok"}]}
    document = {
        "faultwise": 1,
        "kind": "gateway",
        "state": "sqlite:///soak.db",
        "log": {"file": "decisions.jsonl", "max_size": "4MiB", "keep": 2},
        "deadlines": {"total": "4h"},
        "queue": {"execution_max_wait": "4h"},
        "connections": connections,
        "combos": combos,
    }
    return json.dumps(document, indent=1)


class Load:
    """The requests, from several callers at once."""

    def __init__(self, port: int, requests: int, faults: float, seed: int, kinds: Sequence[str] = KINDS) -> None:
        self.port = port
        self.kinds = kinds
        self.left = requests
        self.tally = Tally()
        self._faults = faults
        self._dice = random.Random(seed)
        self._kinds = self._each()

    async def caller(self) -> None:
        """Send one request after the other while any are left."""
        dice, caller = self._dice, Caller(self.port)
        while self.left > 0:
            self.left -= 1
            kind = "ok"
            if self.tally.faults < self._faults * (self.tally.answered + 1):
                kind = next(self._kinds)
            stream = kind in STREAMS_ONLY or dice.random() < STREAMED
            if dice.random() < LEAVE:
                await left(caller, kind, stream, dice.uniform(0.0, 0.02), self.tally)
            else:
                await tried(caller, kind, stream, self.tally)
        caller.close()

    def _each(self) -> Iterator[str]:
        while True:
            yield from self._dice.sample(self.kinds, len(self.kinds))


class Held:
    """Streams that stay open for as long as everything lasts."""

    def __init__(self, port: int, many: int) -> None:
        self._port = port
        self._many = many
        self.opened = self.chunks = self.whole = 0
        self.broken: list[str] = []

    async def all(self) -> None:
        await asyncio.gather(*(self._one() for _ in range(self._many)))

    async def _one(self) -> None:
        caller = Caller(self._port)
        try:
            await caller.send("held", True)
            heard: Heard = await caller.head()
            self.opened += heard.status == 200
            pieces = []
            async for piece in caller.pieces(heard):
                pieces.append(piece)
                self.chunks += 1
        except (Cut, OSError, asyncio.IncompleteReadError) as error:
            self.broken.append(repr(error))
            return
        body = b"".join(pieces)
        numbered = all(
            f"from-the-origin {number}".encode() in body for number in range(body.count(b"from-the-origin "))
        )
        if heard.status == 200 and formed(body) and numbered and b'"error"' not in body:
            self.whole += 1
        else:
            self.broken.append(f"{heard.status} {body[-200:]!r}")
        caller.close()


async def soak(house: House, origin: int, options: argparse.Namespace) -> tuple[dict[str, object], list[str]]:
    """Run; the figures, and what is wrong with them."""
    load, held = Load(house.port, options.requests, options.faults, options.seed), Held(house.port, options.streams)
    memory: list[tuple[float, int]] = []  # MiB, and how many requests were answered by then
    files = [house.files()]

    async def watch() -> None:
        while True:
            memory.append((house.memory(), load.tally.answered))
            await asyncio.sleep(LOOK)

    async def reset() -> None:
        while True:
            await asyncio.sleep(RESET)
            await house.post("/api/resilience/reset", {"all": True})

    streams = asyncio.create_task(held.all())
    while held.opened + len(held.broken) < options.streams:
        await asyncio.sleep(0.05)
    beside = [asyncio.create_task(watch()), asyncio.create_task(reset())]
    begun, busy = time.monotonic(), house.processor()
    late = False
    try:
        async with asyncio.timeout(options.seconds):
            await asyncio.gather(*(load.caller() for _ in range(options.callers)))
    except TimeoutError:
        late = True
    took, busy = time.monotonic() - begun, house.processor() - busy
    files.append(house.files())
    for one in beside:
        one.cancel()
    during = (await house.metrics())["faultwise_requests_under_way"]
    await Caller(origin).get("/finish")
    await asyncio.wait_for(streams, 60)
    stuck = await house.held()
    asked = await house.asked(origin)
    tally, quarter = load.tally, max(1, len(memory) // 4)
    first, last = (statistics.median(one for one, _ in part) for part in (memory[:quarter], memory[-quarter:]))
    middle = memory[len(memory) // 2 :]
    slope = (middle[-1][0] - middle[0][0]) * 1024 / max(1, middle[-1][1] - middle[0][1]) * 1000
    seen: dict[str, int] = asked["seen"]  # type: ignore[assignment]
    figures: dict[str, object] = {
        "workers": len(house.workers),
        "requests answered": tally.answered,
        "seconds": round(took, 1),
        "requests a second": round(tally.answered / took),
        "processor time of one, us": round(busy / max(1, tally.answered) * 1e6),
        "met a fault": tally.faults,
        "share of faults": round(tally.faults / max(1, tally.answered), 4),
        "kinds of faults": sum(1 for kind in (*ANSWERS, *ENDS, *MIDDLE, "trickles") if seen.get(kind)) + 1,
        "of these shown in the stream": tally.shown,
        "clients that hung up": tally.left,
        "unanswered": tally.unanswered,
        "cut": tally.cut,
        "half-formed": tally.half_formed,
        "500s of ours": tally.ours,
        "other answers": dict(tally.others),
        "streams held": held.opened,
        "chunks of these": held.chunks,
        "streams that ended whole": held.whole,
        "under way before they ended": during,
        "still held at the end": stuck,
        "upstream requests not over": asked["under_way"],
        "MiB, first quarter": round(first, 1),
        "MiB, last quarter": round(last, 1),
        "MiB, most": round(max(one for one, _ in memory), 1),
        "KiB for 1,000 requests, second half": round(slope, 1),
        "open files, before and at the end": files,
        "troubles in the log": house.troubles()[:5],
        "examples": tally.examples,
    }
    claims = {
        "it took too long": late,
        "requests without an answer": tally.unanswered,
        "answers that were cut": tally.cut,
        "answers that are not whole events": tally.half_formed,
        "500s of ours": tally.ours,
        "answers that are no success": sum(tally.others.values()),
        "streams that were broken": held.broken[:3],
        "something is still held": stuck,
        "upstream requests are not over": asked["under_way"],
        "memory grew": last > first * (1 + GROWTH) and last,
        "the log speaks of faults of ours": figures["troubles in the log"],
    }
    return figures, [f"{what}: {value}" for what, value in claims.items() if value]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--streams", type=int, default=256, help="held open all the time")
    parser.add_argument("--faults", type=float, default=0.05, help="share of the requests that meet one")
    parser.add_argument("--callers", type=int, default=64, help="requests at once")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600.0, help="at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "soak.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        house = House(folder)
        try:
            origin = house.origin()
            file = folder / "gateway.yaml"
            file.write_text(configuration(origin, free(), options.streams), encoding="utf-8")
            house.serve(file, options.workers)
            figures, wrong = asyncio.run(soak(house, origin, options))
        finally:
            code = house.close()
        figures["exit code of the server"] = code
        return told("soak", figures, options.out, wrong)


if __name__ == "__main__":
    raise SystemExit(main())
