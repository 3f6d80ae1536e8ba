"""`make bench`: what costs what, as ratios to a yardstick measured in the same run. Never a test.

Each figure is the median of interleaved rounds; the machine may drift, the ratio does not. Writes bench.json beside it.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parent))

import loading  # beside this script
import matching
import proxying
import serving
import streaming

PAIRS = {  # rows of two functions to compare
    "matching": matching.rows,
    "pathological": matching.pathological,
    "loading": loading.rows,
    "serving": serving.rows,
}
# rows that measure themselves
WHOLE = {"lag": lambda: [loading.lag()], "proxying": proxying.rows, "streaming": streaming.rows}


def timed(call: Callable[[], object], loops: int) -> float:
    """Microseconds of one call."""
    start = perf_counter()
    for _ in range(loops):
        call()
    return (perf_counter() - start) / loops * 1e6


def compare(ours: Callable[[], object], yardstick: Callable[[], object], rounds: int = 7) -> tuple[float, float]:
    """Medians of both, in interleaved rounds of about 20 ms each."""
    for call in (ours, yardstick):
        call()
    loops = [max(1, int(20_000 / max(timed(call, 3), 0.1))) for call in (ours, yardstick)]
    gc.collect()
    gc.disable()  # it would fall on whichever of the two happens to run
    pairs = [(timed(ours, loops[0]), timed(yardstick, loops[1])) for _ in range(rounds)]
    gc.enable()
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[*PAIRS, *WHOLE], help="which parts to measure")
    parts = parser.parse_args().parts
    rows = []
    for part in parts:
        for name, ours, yardstick, target in PAIRS[part]() if part in PAIRS else ():
            mine, theirs = compare(ours, yardstick)
            rows.append({"what": name, "us": mine, "yardstick_us": theirs, "ratio": mine / theirs, "target": target})
        rows += WHOLE[part]() if part in WHOLE else ()
    print(f"{'what':<66} {'us':>10} {'yardstick':>10} {'ratio':>7}  target")
    for row in rows:
        print(
            f"{row['what']:<66} {row['us']:>10.1f} {row['yardstick_us']:>10.1f} {row['ratio']:>7.2f}  {row['target']}"
        )
    out = Path(__file__).parent / "bench.json"
    out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
