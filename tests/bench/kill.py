"""Kills a writer again and again: `python tests/bench/kill.py [ROUNDS]`. No lock it was told is durable may be missing.

Each round forks a process that closes connections by hand and says so once the store has acknowledged it; after a few
milliseconds it is killed with SIGKILL, and the file is read.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from faultwise.engine.state.state import State
from faultwise.engine.store.sqlite import Sqlite


def writer(file: Path, pipe: int, round_: int) -> None:
    """Lock, wait until it is durable, say so, until the end."""
    state = State(Sqlite(file))
    number = 0
    while True:
        name = f"{round_}-{number}"
        state.hold(name, "acme", None, time.time())
        while not state.durable("lock", f"hold:{name}"):
            state.sync()
            time.sleep(0.0005)
        os.write(pipe, f"{name}\n".encode())
        number += 1


def killed(file: Path, round_: int, dice: random.Random) -> set[str]:
    """One round; what its process was told is durable."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        writer(file, writing, round_)
    os.close(writing)
    told = os.read(reading, 65536)  # it is at work
    time.sleep(dice.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 65536):
        told += more
    os.close(reading)
    return set(told.decode().split("\n")[:-1])


def main(rounds: int, seed: int = 1) -> int:
    """Run; 1 where anything was lost."""
    dice = random.Random(seed)
    lost = acknowledged = 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.db"
        for round_ in range(rounds):
            durable = killed(file, round_, dice)
            with closing(sqlite3.connect(file)) as opened:
                (sound,) = opened.execute("PRAGMA integrity_check").fetchone()
                there = {key.removeprefix("hold:") for (key,) in opened.execute("SELECT key FROM records")}
            acknowledged += len(durable)
            lost += len(durable - there) + (sound != "ok")
    print(f"{rounds} kills, {acknowledged} durable locks, {lost} lost, {time.monotonic() - begun:.1f} s")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
