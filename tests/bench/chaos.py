"""`make chaos`: everything that happens to a server, while it is asked all the time. Bounded; never a test.

Storms of good, bad and half-written configurations, swapped as Kubernetes swaps a ConfigMap; upstreams that restart;
workers that are killed and replaced; clients that do not read, and clients that hang up. Linux only. Exit code 1 where
a request was lost that need not have been, or anything is held at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from caller import Caller, Tally, left
from house import House, told
from soak import Load

KINDS = ("limit", "error-500", "first-event", "reset-body", "bad-gzip", "reset-after")
ENDLESS = 10**9
UNREAD = 2.0  # seconds the server waits for a client that does not read
PATIENCE = 30.0  # seconds until something has come about


def configuration(first: int, second: int, number: int) -> str:
    """One that can serve; each number asks for a name of its own. JSON is YAML."""
    a, b = (
        {"base_url": f"http://127.0.0.1:{port}/v1", "wire": "openai", "secret": "key-of-the-origin"}
        for port in (first, second)
    )
    connections: list[dict[str, object]] = [
        {"id": "a", "provider": "a", **a, "max_concurrent": 100},
        {"id": "b", "provider": "b", **b, "max_concurrent": 400},
        {"id": "spare", "provider": "spare", **b},
    ]
    combos = {"ok": ["a", "b"], f"number-{number}": ["b"], **{name: ["b"] for name in ("held", "flood", "stalls")}}
    for kind in KINDS:
        connections.append({"id": kind, "provider": f"of-{kind}", **a, "disable_cooling": True})
        combos[kind] = [kind, "b"]
    model = {"a": "ok", "b": "ok"}
    document = {
        "faultwise": 1,
        "kind": "gateway",
        "rules": ["rules"],
        "deadlines": {"connect": "2s", "first_byte": "2s", "first_content": "2s", "idle": "5s"},
        "limits": {"unread": f"{UNREAD:.0f}s"},
        "connections": connections,
        "combos": {
            name: {
                "targets": [
                    {"connection": one, "model": name if len(ones) == 1 or one == name else model[one]} for one in ones
                ]
            }
            for name, ones in combos.items()
        },
    }
    return f"# {number}\n{json.dumps(document, indent=1)}"


RULE = """faultwise: 1
kind: provider
provider: of-limit
rules:
  - {id: of-limit-%d, why: A rule that changes., status: [429], any: [rate limit], reason: rate_limit_exceeded}
"""


class Volume:
    """A directory whose content is swapped by one rename, as a ConfigMap is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self.file = folder / "gateway.yaml"

    def put(self, text: str, rule: str) -> None:
        """Swap in another content."""
        self._number += 1
        fresh = self._folder / f"..{self._number}"
        (fresh / "rules").mkdir(parents=True)
        (fresh / "gateway.yaml").write_text(text, encoding="utf-8")
        (fresh / "rules" / "of-limit.yaml").write_text(rule, encoding="utf-8")
        (self._folder / "..tmp").symlink_to(fresh.name)
        os.replace(self._folder / "..tmp", self._folder / "..data")
        for name in ("gateway.yaml", "rules"):
            if not (self._folder / name).is_symlink():
                (self._folder / name).symlink_to(f"..data/{name}")

    def half(self, text: str) -> None:
        """Write over what is there, and stop in the middle."""
        self.file.resolve().write_text(text[: len(text) // 2], encoding="utf-8")

    def rest(self, text: str) -> None:
        self.file.resolve().write_text(text, encoding="utf-8")


class Chaos:
    """The phases. Each runs under load and says what became of the requests meanwhile."""

    def __init__(self, house: House, volume: Volume, ports: tuple[int, int], options: argparse.Namespace) -> None:
        self.house = house
        self.volume = volume
        self.first, self.second = ports
        self.options = options
        self.dice = random.Random(options.seed)
        self.number = 1
        self.figures: dict[str, object] = {}
        self.wrong: list[str] = []

    def good(self) -> str:
        self.number += 1
        return configuration(self.first, self.second, self.number)

    @asynccontextmanager
    async def load(self, what: str, lost: int = 0, others: bool = False) -> AsyncIterator[Tally]:
        """Ask all the time. `lost`: how many requests may be; `others`: whether one may fail."""
        load = Load(self.house.port, ENDLESS, 0.03, self.options.seed, KINDS)
        callers = [asyncio.create_task(load.caller()) for _ in range(self.options.callers)]
        begun = time.monotonic()
        try:
            yield load.tally
        finally:
            load.left = 0
            await asyncio.gather(*callers)
        tally = load.tally
        gone = tally.unanswered + tally.cut
        self.figures[f"{what}: answered"] = f"{tally.answered} in {time.monotonic() - begun:.1f} s"
        self.figures[f"{what}: lost"] = gone
        self.figures[f"{what}: not a success"] = dict(tally.others)
        if gone > lost:
            self.wrong.append(f"{what}: {gone} requests lost {tally.examples}")
        if tally.ours or tally.half_formed or (tally.others and not others):
            self.wrong.append(
                f"{what}: {tally.ours} 500s, {tally.half_formed} half-formed, {tally.others} {tally.examples}"
            )

    async def until(self, what: str, holds: object, patience: float = PATIENCE) -> float:
        """Wait until something holds; how long that took."""
        begun = time.monotonic()
        while not await holds():  # type: ignore[operator]
            if time.monotonic() - begun > patience:
                self.wrong.append(f"{what}: not within {patience:.0f} s")
                break
            await asyncio.sleep(0.05)
        return round(time.monotonic() - begun, 2)

    async def serves(self) -> bool:
        """Whether every worker serves the newest configuration."""
        for _ in range(12):
            caller = Caller(self.house.port)
            heard = await caller.ask(f"number-{self.number}")
            caller.close()
            if heard.status != 200:
                return False
        return True

    async def reloads(self) -> None:
        memory = self.house.memory()
        done: dict[str, int] = {}
        async with self.load("reloads"):
            for _ in range(self.options.reloads):
                kind = self.dice.choice(("swap", "bad yaml", "bad rule", "half", "asked"))
                done[kind] = done.get(kind, 0) + 1
                good = self.good()
                if kind == "swap":
                    self.volume.put(good, RULE % self.number)
                elif kind == "bad yaml":
                    self.volume.put(good.replace('"connections"', '"conections"'), RULE % self.number)
                elif kind == "bad rule":
                    self.volume.put(good, RULE.replace("reason: rate", "reason: no_such") % self.number)
                elif kind == "half":
                    self.volume.half(good)
                    await asyncio.sleep(self.dice.uniform(0.0, 0.3))
                    self.volume.rest(good)
                else:
                    await self.house.post("/api/policy/reload", {})
                await asyncio.sleep(self.dice.uniform(0.0, 0.4))
            self.volume.put(self.good(), RULE % self.number)
            self.figures["reloads: seconds to the last one"] = await self.until("the last configuration", self.serves)
        found = await self.house.metrics()
        self.figures["reloads: changes"] = done
        self.figures["reloads: policies of a worker"] = found["faultwise_policy_generation"]
        self.figures["reloads: refused by a worker"] = found["faultwise_policy_reload_failures_total"]
        self.figures["reloads: MiB, before and after"] = [round(memory, 1), round(self.house.memory(), 1)]
        if found["faultwise_policy_refused"]:
            self.wrong.append("reloads: the last configuration was refused")

    async def restarts(self) -> None:
        async with self.load("first upstream restarts"):
            for _ in range(self.options.restarts):
                self.house.lose(self.first)
                await asyncio.sleep(self.dice.uniform(0.1, 0.6))
                self.house.origin(self.first)
                await asyncio.sleep(self.dice.uniform(0.1, 0.6))
        async with self.load("both upstreams restart", others=True):
            for port in (self.first, self.second):
                self.house.lose(port)
            await asyncio.sleep(1.0)
            for port in (self.first, self.second):
                self.house.origin(port)
            await asyncio.sleep(1.0)
        await self.house.post("/api/resilience/reset", {"all": True})

    async def kills(self) -> None:
        if self.options.workers < 2:
            return
        await self.house.post("/api/resilience/lock", {"connection": "spare"})
        await self.until("the lock is durable", self._durable)
        took = []
        async with self.load("workers are killed", lost=self.options.kills * self.options.callers):
            for _ in range(self.options.kills):
                gone = self.dice.choice(self.house.workers)
                self.house.signal(gone, signal.SIGKILL)

                async def replaced(gone: int = gone) -> bool:
                    workers = self.house.workers
                    return gone not in workers and len(workers) == self.options.workers

                took.append(await self.until("a killed worker is replaced", replaced))
                await asyncio.sleep(4.0)
        self.figures["workers are killed: seconds to the next"] = took
        if not await self._durable():
            self.wrong.append("workers are killed: a durable lock is gone")
        before = set(self.house.workers)
        async with self.load("workers are renewed", lost=self.options.callers):
            self.house.signal(self.house.pid, signal.SIGHUP)

            async def renewed() -> bool:
                return not before & set(self.house.workers)

            self.figures["workers are renewed: seconds"] = await self.until("workers are renewed", renewed, 240.0)
            await asyncio.sleep(2.0)
        await self.house.post("/api/resilience/reset", {"all": True})

    async def _durable(self) -> bool:
        health = json.loads((await Caller(self.house.port).get("/api/monitoring/health")).body)
        return any(one["key"] == "hold:spare" and one["durable"] for one in health["connections"])

    async def slow(self) -> None:
        clients = [Caller(self.house.port) for _ in range(self.options.slow)]
        async with self.load("clients do not read"):
            for one in clients:
                await one.send("flood", True)
                one.pause()

            async def given_up() -> bool:
                return self.house.said("unread request") >= len(clients)

            await asyncio.sleep(UNREAD)
            self.figures["clients do not read: seconds until given up"] = await self.until("given up", given_up)
        self.figures["clients do not read: MiB"] = round(self.house.memory(), 1)
        for one in clients:
            one.close()

    async def hang_ups(self) -> None:
        tally = Tally()
        names = ("ok", "held", "flood", "stalls", *KINDS)

        async def several(many: int) -> None:
            caller = Caller(self.house.port)
            for _ in range(many):
                await left(caller, self.dice.choice(names), self.dice.random() < 0.7, self.dice.uniform(0, 0.1), tally)

        async with self.load("clients hang up"):
            await asyncio.gather(*(several(self.options.hang_ups // 40) for _ in range(40)))
        self.figures["clients hang up: they were"] = tally.left

    async def run(self) -> None:
        """All phases, and what is left behind."""
        files = self.house.files()
        for phase in (self.reloads, self.restarts, self.kills, self.slow, self.hang_ups):
            await phase()
        stuck = await self.house.held()
        under_way = [(await self.house.asked(port))["under_way"] for port in (self.first, self.second)]
        await asyncio.sleep(1.0)
        self.figures |= {
            "still held at the end": stuck,
            "upstream requests not over": under_way,
            "open files, before and at the end": [files, self.house.files()],
            "MiB at the end": round(self.house.memory(), 1),
            "troubles in the log": self.house.troubles()[:5],
        }
        if stuck or any(under_way):
            self.wrong.append(f"still held: {stuck}, upstream requests: {under_way}")
        if self.figures["troubles in the log"]:
            self.wrong.append(f"the log speaks of faults of ours: {self.figures['troubles in the log']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--callers", type=int, default=16, help="requests at once")
    parser.add_argument("--reloads", type=int, default=200, help="changes of the files")
    parser.add_argument("--restarts", type=int, default=10, help="of the first upstream")
    parser.add_argument("--kills", type=int, default=3, help="of workers")
    parser.add_argument("--slow", type=int, default=50, help="clients that do not read")
    parser.add_argument("--hang-ups", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "chaos.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        house = House(folder)
        try:
            ports = house.origin(), house.origin()
            (folder / "live").mkdir()
            volume = Volume(folder / "live")
            volume.put(configuration(*ports, 1), RULE % 1)
            house.serve(volume.file, options.workers, {"FAULTWISE_STATE": f"sqlite:///{folder}/chaos.db"})
            chaos = Chaos(house, volume, ports, options)
            asyncio.run(chaos.run())
        finally:
            code = house.close()
        chaos.figures["exit code of the server"] = code
        return told("chaos", chaos.figures, options.out, chaos.wrong)


if __name__ == "__main__":
    raise SystemExit(main())
