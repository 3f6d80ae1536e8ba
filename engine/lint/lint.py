"""Runs every check over a policy and the files it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import Sources
from faultwise.engine.problem import Problem

from . import (
    caseless,
    collision,
    contradiction,
    dead,
    duplicate,
    expired,
    generic,
    informational,
    overlong,
    recoverable,
    regex,
    unexplained,
    unreachable,
    unused,
)
from .catalogue import Catalogue, catalogue

Check = Callable[[Catalogue], Iterator[Problem]]

CHECKS: Mapping[str, Check] = {
    module.CODE: module.check
    for module in (
        dead,
        informational,
        unreachable,
        collision,
        generic,
        contradiction,
        recoverable,
        overlong,
        caseless,
        duplicate,
        unused,
        expired,
        regex,
        unexplained,
    )
}


def lint(sources: Sources, policy: Policy, now: float) -> tuple[Problem, ...]:
    """Every finding, in file order. `policy` is what `load(sources)` made; `now` is seconds since the epoch, UTC."""
    written = catalogue(sources, policy, now)
    return tuple(sorted({problem for check in CHECKS.values() for problem in check(written)}))
