"""Loading rule files: cold, after one file changed, and what the event loop feels of it."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator
from statistics import quantiles
from time import perf_counter

import yaml
from matching import Row, made  # beside this script

from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import SourceFile, Sources, collect
from faultwise.server.yielding import yielding

FILES = 100
EDITIONS = 100  # more than are loaded in a run
TICK = 0.001  # seconds between looks at the clock
IDLE = 1.0  # seconds


def rows() -> Iterator[Row]:
    """Each row: what, ours, the yardstick, the target."""
    read = yardstick(written())
    yield "load 1,000 rules in 100 files, cold", cold(), read, "<= 5"
    yield "load again, one file of a hundred changed", changed(), read, "<= 0.3"


def written(edition: int = 0, edited: int = FILES) -> Sources:
    """A thousand rules as people write them, ten to a provider; the first files say something new in each edition."""
    files = [file for file in collect().files if file.name == "rules/policy.yaml"]
    for number in range(FILES):
        lines = ["faultwise: 1", "kind: provider", f"provider: p{number}", "rules:"]
        for rule in range(number * 10, number * 10 + 10):
            mark = f"{rule} {edition if number < edited else 0}"
            text = f"text matches /limit of (\\d+) {mark}/" if rule % 10 == 0 else f'text has "limit of {mark}"'
            when = f'code == "quota {mark}" or status == 403 and {text}'
            lines += [
                f"  - id: made-up-{rule}",
                "    status: [403, 429]",
                f"    any: [insufficient balance {mark}, 余额不足 {mark}]",
                *([f"    when: {json.dumps(when)}"] if rule % 10 < 6 else ()),  # as in the shipped catalogue
                "    reason: quota_exhausted",
                "    cooldown: stated else 1h",
                "    why: Sent when the balance of the account is used up, until somebody pays.",
                "    see: https://example.com/docs/errors",
            ]
        files.append(SourceFile(f"p{number}.yaml", "\n".join(lines).encode(), 1))
    return Sources(tuple(files))


def yardstick(sources: Sources) -> Callable[[], object]:
    """PyYAML's C loader on the same files."""
    return lambda: [yaml.load(file.data, yaml.CSafeLoader) for file in sources.files]


def cold() -> Callable[[], object]:
    """A load of files never seen, with expressions never seen."""
    editions = [written(number) for number in range(1, EDITIONS)]
    return lambda: load(editions.pop(), {})


def changed() -> Callable[[], object]:
    """A load where all but one file are known."""
    editions, memo = [written(number, 1) for number in range(1, EDITIONS)], {}
    load(written(), memo)
    return lambda: load(editions.pop(), memo)


def lag() -> dict[str, object]:
    """How late the loop's clock ticks while 10,000 rules are loaded in a thread, next to an idle loop."""
    sources = made(10_000, 100)

    def reload() -> None:
        with yielding():  # as the server does
            load(sources, {})

    idle, busy = asyncio.run(_late(None)), asyncio.run(_late(reload))
    return {
        "what": "event loop while 10,000 rules load in a thread: p99 lag",
        "us": busy,
        "yardstick_us": idle,
        "ratio": busy / idle,
        "target": "<= 5 ms",
    }


async def _late(work: Callable[[], object] | None) -> float:
    """The p99 of the lateness of a tick, in microseconds."""
    late: list[float] = []
    gc.collect()
    task = asyncio.create_task(asyncio.sleep(IDLE) if work is None else asyncio.to_thread(work))  # type: ignore[arg-type]
    while not task.done():
        start = perf_counter()
        await asyncio.sleep(TICK)
        late.append((perf_counter() - start - TICK) * 1e6)
    await task
    return quantiles(late, n=100)[98]
