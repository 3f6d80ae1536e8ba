"""Strategies, from the configuration to the upstream that is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.faults.upstream import Upstream, error, ok

from .gateway import Gateway, config, gateway


@contextmanager
def served(
    folder: Path, strategy: str, *targets: dict[str, Any], **first: Any
) -> Iterator[tuple[Gateway, Upstream, Upstream]]:
    """Two accounts of two providers behind one combo; `first`: of the first connection."""
    with Upstream(ok()) as a, Upstream(ok()) as b:
        rows = [{"id": "a", "base_url": a.url, **first}, {"id": "b", "base_url": b.url, "provider": "other"}]
        chosen = targets or ({"connection": "a", "model": "m"}, {"connection": "b", "model": "m"})
        document = json.loads(config(rows))
        document["combos"] = {"coding": {"strategy": strategy, "targets": chosen}}
        with gateway(folder, json.dumps(document)) as made:
            yield made, a, b


def asked(gateway: Gateway, a: Upstream, b: Upstream, times: int) -> str:
    """Which upstreams a number of requests went to, each request's in the order of the alphabet."""
    found = ""
    for _ in range(times):
        before = len(a.requests), len(b.requests)
        assert gateway.chat().status_code == 200
        found += "a" * (len(a.requests) - before[0]) + "b" * (len(b.requests) - before[1])
    return found


def test_round_robin_takes_turns_also_after_a_reload(tmp_path: Path) -> None:
    with served(tmp_path, "round-robin") as (made, a, b):
        assert asked(made, a, b, 3) == "aba"
        made.cell.take(made.cell.active.policy, made.cell.active.settings, "again")
        assert asked(made, a, b, 2) == "ba"


def test_a_weight_of_zero_is_a_last_resort_wherever_it_is_written(tmp_path: Path) -> None:
    targets = ({"connection": "a", "model": "m"}, {"connection": "b", "model": "m", "weight": 0.5})
    with served(tmp_path, "weighted", *targets, weight=0) as (made, a, b):
        assert asked(made, a, b, 5) == "bbbbb"
        b.script(error(500, "down"))
        assert asked(made, a, b, 1) == "ab"


def test_the_last_known_good_keeps_the_traffic(tmp_path: Path) -> None:
    with served(tmp_path, "lkgp") as (made, a, b):
        a.script(error(500, "down"))
        assert asked(made, a, b, 1) == "ab"
        a.script(ok())
        made.clock.ahead += 60  # whatever was locked is open again
        assert asked(made, a, b, 3) == "bbb"


def test_quotas_that_answers_tell_of_decide_where_to_go(tmp_path: Path) -> None:
    with served(tmp_path, "reset-aware") as (made, a, b):
        told = {"content-type": "application/json", "x-codex-primary-used-percent": "95"}
        good = ok()
        a.script(type(good)(good.status, good.body, told))
        assert asked(made, a, b, 3) == "abb"
