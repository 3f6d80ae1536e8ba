"""The strategies by name. Adding one is adding a file and a row."""

from __future__ import annotations

from collections.abc import Mapping

from faultwise.engine.routing.candidate import Strategy

from . import fill_first, least_used, lkgp, p2c, priority, reset_aware, round_robin, weighted

STRATEGIES: Mapping[str, Strategy] = {
    "priority": priority.order,
    "weighted": weighted.order,
    "round-robin": round_robin.order,
    "fill-first": fill_first.order,
    "p2c": p2c.order,
    "least-used": least_used.order,
    "reset-aware": reset_aware.order,
    "lkgp": lkgp.order,
}
