"""Faultwise tells the truth about upstream LLM failures, and acts on it.

The library in five names, imported when first used:

    from faultwise import collect, decide, intake, load

    policy = load(collect(["my-rules"]))
    verdict = decide(policy, intake({"provider": "acme", "status": 403, "body": "…"}, now=time.time()))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faultwise.engine.failure.intake import intake as intake
    from faultwise.engine.failure.record import Failure as Failure
    from faultwise.engine.policy.load import load as load
    from faultwise.engine.policy.source import collect as collect
    from faultwise.engine.problem import PolicyError as PolicyError
    from faultwise.engine.verdict.decide import decide as decide
    from faultwise.engine.verdict.explain import explain as explain

__version__ = "0.1.0"

_HOMES = {
    "Failure": "engine.failure.record",
    "PolicyError": "engine.problem",
    "collect": "engine.policy.source",
    "decide": "engine.verdict.decide",
    "explain": "engine.verdict.explain",
    "intake": "engine.failure.intake",
    "load": "engine.policy.load",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that a command does not wait for what it does not need."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
