"""`make fuzz`: a million failures that nobody would think of. Counts verdicts, stops for nothing, tells what went wrong.

    python tests/fuzz/run.py [--count N] [--seed S]

Ends with 1 where a failure raised or got a verdict that cannot be; `--seed S --count N` brings the same ones again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from time import perf_counter, thread_time

sys.path.insert(0, str(Path(__file__).parent))

from hostile import failures, wrong  # beside this script

from faultwise.engine.cases import NOW, row
from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect
from faultwise.engine.verdict.decide import decide

SHOWN = 20  # findings that are printed


def main() -> int:
    """Run, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    policy = load(collect())
    reasons: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    findings: list[str] = []
    slowest = (0.0, 0)
    began = perf_counter()
    for number, failing in enumerate(
        islice(failures([row(case) for case in policy.cases], options.seed), options.count)
    ):
        start = thread_time()  # of the processor: a machine that is busy elsewhere is not what is measured
        try:
            verdict = decide(policy, intake(failing, NOW)).to_json()
            json.dumps(verdict)
            finding = wrong(verdict)
            reasons[verdict["reason"]] += 1
            layers[str(verdict["layer"])] += 1
        except Exception as error:  # whatever it is, it is what we look for
            finding = f"{type(error).__name__}: {error}"
        slowest = max(slowest, (thread_time() - start, number))
        if finding:
            findings.append(f"{number}: {finding}\n    {json.dumps(failing)[:2000]}")
    print(
        f"{options.count} failures of seed {options.seed} in {perf_counter() - began:.0f} s, {len(findings)} findings"
    )
    print(f"slowest: number {slowest[1]}, {slowest[0] * 1000:.1f} ms")
    for counts in (layers, reasons):
        print("  ".join(f"{name} {count}" for name, count in counts.most_common()))
    print(*findings[:SHOWN], sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
