"""The numbers of the state for one connection: the policy's profile, with what the operator laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from faultwise.engine.policy.statuses import parse_statuses
from faultwise.engine.verdict.timing import profile_of

Tree = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """When a circuit opens, and for how long. Waits are seconds."""

    opens_at: int = 12
    degraded_at: int | None = None
    window: float = 120.0
    ratio: float = 0.5
    reset: float = 30.0
    grows_after: int = 0
    grows_to: int = 1
    probe: float = 90.0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class GateLimits:
    """When a provider's window gate closes, and how its connections back off meanwhile."""

    failures: int = 15
    window: float = 1800.0
    cooldown: float = 600.0
    base: float = 5.0
    max: float = 300.0
    enabled: bool = False


@dataclass(frozen=True, slots=True)
class Backoff:
    """How made-up waits grow: base x 2^level, up to `levels` and `max`."""

    base: float = 3.0
    levels: int = 5
    max: float = 1800.0
    exponential: bool = True


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The locks of models. `enabled`: failures that are only a status lock models too, those of `statuses`."""

    backoff: Backoff = Backoff(120.0, 10)
    enabled: bool = False
    statuses: frozenset[int] = frozenset((403, 404, 429, 502, 503, 504))
    local: float = 5.0  # for a model that a local server does not have


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Everything the state is told about one connection."""

    profile: str
    breaker: BreakerLimits = BreakerLimits()
    gate: GateLimits = GateLimits()
    cooldown: Backoff = Backoff()
    model: ModelLimits = ModelLimits()
    money_terminal: bool = True


def thresholds(profiles: Tree, auth: str, cap: float, over: Iterable[Tree] = ()) -> Thresholds:
    """The numbers for a class of credential.

    `profiles`: the policy's, durations in seconds; `cap`: the longest made-up wait; `over`: profiles laid over them by
    class name, later ones over earlier ones; a section under `all` is for every class.
    """
    name = auth if auth in profiles else profile_of(auth)
    layers = [profiles, *over]
    sections = {
        section: _merged(layers, ("all", name), section)
        for section in ("breaker", "gate", "cooldown", "money_terminal")
    }
    model: dict[str, Any] = {}
    for layer in layers:
        model |= layer.get("model", {})
    model["cooldown"] = _merged(layers, ("model",), "cooldown")
    plain = ModelLimits()
    return Thresholds(
        profile=name,
        breaker=BreakerLimits(**sections["breaker"]),
        gate=GateLimits(**sections["gate"]),
        cooldown=_backoff(Backoff(), sections["cooldown"], cap),
        model=ModelLimits(
            backoff=_backoff(plain.backoff, model["cooldown"], cap),
            enabled=model.get("enabled", plain.enabled),
            statuses=parse_statuses(model["statuses"]).numbers if "statuses" in model else plain.statuses,
            local=model.get("local", plain.local),
        ),
        money_terminal=sections["money_terminal"].get("is", True),
    )


def _merged(layers: Iterable[Tree], names: tuple[str, ...], section: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for layer in layers:
        for name in names:
            held = layer.get(name, {}).get(section)
            if held is not None:
                found |= held if isinstance(held, Mapping) else {"is": held}
    return found


def _backoff(base: Backoff, section: Tree, cap: float) -> Backoff:
    return Backoff(
        base=section.get("base", base.base),
        levels=section.get("levels", base.levels),
        max=min(section.get("max", cap), cap),
        exponential=section.get("exponential", base.exponential),
    )
