"""Bounds of the thresholds in `profiles`, wherever they are written: policy, gateway file, connection, environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Bounds = Mapping[str, tuple[float, float]]

# Least and most; waits in seconds.
BREAKER: Bounds = {
    "degraded_at": (1, 10_000),
    "opens_at": (1, 10_000),
    "window": (10.0, 900.0),
    "ratio": (0.0, 1.0),
    "reset": (1.0, 3_600.0),
    "grows_after": (0, 100),
    "grows_to": (1, 1_000),
    "probe": (1.0, 3_600.0),
}
GATE: Bounds = {
    "failures": (1, 10_000),
    "window": (1.0, 86_400.0),
    "cooldown": (1.0, 86_400.0),
    "base": (1.0, 3_600.0),
    "max": (1.0, 86_400.0),
}
COOLDOWN: Bounds = {"base": (0.0, 86_400.0), "levels": (0, 32), "max": (1.0, 86_400.0)}
MODEL_COOLDOWN: Bounds = {"base": (5.0, 600.0), "levels": (0, 20), "max": (5.0, 3_600.0)}
MODEL: Bounds = {"local": (1.0, 3_600.0)}
SECTIONS: Mapping[str, Bounds] = {"breaker": BREAKER, "gate": GATE, "cooldown": COOLDOWN}


def out_of_bounds(name: str, profile: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Where a profile says something that cannot be meant, and what is wrong with it. Waits are already seconds."""
    sections = {"cooldown": MODEL_COOLDOWN} if name == "model" else SECTIONS
    if name == "model":
        yield from _beyond((), profile, MODEL)
    for section, bounds in sections.items():
        held = profile.get(section, {})
        yield from _beyond((section,), held, bounds)
        if held.get("max", held.get("base", 0.0)) < held.get("base", 0.0):
            yield (section, "max"), "`max` is less than `base`"
    circuit = profile.get("breaker", {})
    if circuit.get("degraded_at", 0) > circuit.get("opens_at", 10_000):
        yield ("breaker", "degraded_at"), "`degraded_at` is more than `opens_at`"


def _beyond(path: tuple[str, ...], held: Mapping[str, Any], bounds: Bounds) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, (least, most) in bounds.items():
        value = held.get(key)
        if value is not None and not least <= value <= most:
            unit = "" if isinstance(least, int) or key == "ratio" else " s"
            yield (*path, key), f"`{key}` is {value:g}{unit}: it must be from {least:g} to {most:g}{unit}"
