"""Two processes on one file: how long until one honours what the other knows. `python tests/bench/workers.py [LOCKS]`"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from faultwise.engine.state.lock import Identity
from faultwise.engine.state.state import State
from faultwise.engine.state.thresholds import Thresholds
from faultwise.engine.store.sqlite import Sqlite

LIMITS = Thresholds("api_key")


def identity(number: int) -> Identity:
    return Identity("acme", f"c{number}", "m", "api.example")


def watcher(file: Path, locks: int) -> None:
    """Look whether each connection is open, as a request would, and say when it was closed."""
    state = State(Sqlite(file))
    print("ready", flush=True)
    for number in range(locks):
        who = identity(number)
        state.bind(who)
        while state.healthy(who.account) or state.view(who, LIMITS, time.time()).exclusion is None:
            time.sleep(0.0002)
        print(time.time(), flush=True)
    state.store.close()


def main(locks: int) -> int:
    """Measure; 1 where a lock took longer than 100 ms."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.db"
        state = State(Sqlite(file))
        command = [sys.executable, __file__, "--watch", str(file), str(locks)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as other:
            assert other.stdout is not None, "it is a pipe"
            other.stdout.readline()
            delays = []
            for number in range(locks):
                time.sleep(0.03)
                at = time.time()
                state.hold(f"c{number}", "acme", None, at)
                delays.append((float(other.stdout.readline()) - at) * 1000)
        state.store.close()
    found = {
        "locks": locks,
        "median_ms": round(statistics.median(delays), 1),
        "p99_ms": round(sorted(delays)[int(len(delays) * 0.99) - 1], 1),
        "worst_ms": round(max(delays), 1),
    }
    print(json.dumps(found))
    return 1 if max(delays) > 100 else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watch"]:
        watcher(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
