"""Ten thousand failures that nobody would think of get a verdict that can be, each in bounded time. `make fuzz`: a million."""

from __future__ import annotations

import json
from itertools import islice
from time import thread_time

from faultwise.engine.cases import NOW, row
from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import decide

from .hostile import failures, wrong

SLOWEST = 1.0  # seconds of the processor


def test_any_failure_gets_a_verdict_that_can_be(shipped: Policy) -> None:
    for number, failing in enumerate(islice(failures([row(case) for case in shipped.cases], seed=7), 10_000)):
        start = thread_time()
        verdict = decide(shipped, intake(failing, NOW)).to_json()
        assert thread_time() - start < SLOWEST, number
        json.dumps(verdict)
        assert wrong(verdict) is None, (number, failing)


def test_the_same_seed_brings_the_same_failures() -> None:
    seeds = [{"provider": "acme", "status": 429, "body": {"error": {"message": "slow"}}}]
    first, second = ([json.dumps(one) for one in islice(failures(seeds, 3), 50)] for _ in range(2))
    assert first == second
