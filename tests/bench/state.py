"""What the state costs a healthy request, next to an empty call. `python tests/bench/state.py`"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from faultwise.engine.state.lock import Identity
from faultwise.engine.state.outcome import Outcome
from faultwise.engine.state.state import State
from faultwise.engine.state.thresholds import Thresholds
from faultwise.engine.store.sqlite import Sqlite

ROUNDS, CALLS = 9, 200_000
LIMITS = Thresholds("api_key")


def empty(account: str) -> bool:
    return True


def taken(call: Callable[[str], object], account: str) -> float:
    begun = time.perf_counter()
    for _ in range(CALLS):
        call(account)
    return (time.perf_counter() - begun) / CALLS * 1e9


def main() -> None:
    """Interleaved rounds, medians, in ns."""
    with tempfile.TemporaryDirectory() as folder:
        state = State(Sqlite(Path(folder) / "state.db"))
        who = Identity("acme", "c", "m", "api.example")
        account = state.bind(who)
        state.hold("other", "acme", None, time.time())  # something is always closed somewhere
        state.bind(Identity("acme", "other", "m", "api.example"))
        state.store.flush(5)
        state.sync()
        good = Outcome(who, LIMITS, 0.0, time.time(), ok=True)
        rows: dict[str, list[float]] = {"empty": [], "read": [], "success": []}
        for _ in range(ROUNDS):
            rows["empty"].append(taken(empty, account))
            rows["read"].append(taken(state.healthy, account))
            rows["success"].append(taken(lambda _: state.report(good), account))
        state.store.close()
    medians = {name: round(statistics.median(values), 1) for name, values in rows.items()}
    print(json.dumps({**medians, "read_ratio": round(medians["read"] / medians["empty"], 2)}))


if __name__ == "__main__":
    main()
