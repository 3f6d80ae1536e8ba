"""Thresholds the operator lays over the policy's: by class of credential in the gateway file and the environment, and by
connection. More specific beats less specific; within one level the environment beats the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from faultwise.dsl import duration
from faultwise.engine.failure.record import AUTHS
from faultwise.engine.policy.document import Document
from faultwise.engine.policy.profiles import MODEL_COOLDOWN, SECTIONS, out_of_bounds
from faultwise.engine.problem import Problem

from .layers import Value, flag, seconds, variable

Tree = dict[str, Any]
NUMBERS: dict[type, Callable[[Any], Any]] = {float: seconds, int: int}


def _known() -> dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]]:
    """Each threshold that the environment can set: its place in a tree of profiles, and how it is read."""
    found: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {}
    for auth in AUTHS:
        for section, bounds in SECTIONS.items():
            for key, (least, _) in bounds.items():
                parse = float if key == "ratio" else NUMBERS[type(least)]
                found[f"{section}.{auth}.{key}"] = ((auth, section, key), parse)
        for section in ("breaker", "gate"):
            found[f"{section}.{auth}.enabled"] = ((auth, section, "enabled"), flag)
        found[f"money_terminal.{auth}"] = ((auth, "money_terminal"), flag)
    for key, (least, _) in MODEL_COOLDOWN.items():
        found[f"cooldown.model.{key}"] = (("model", "cooldown", key), NUMBERS[type(least)])
    found["cooldown.model.exponential"] = (("model", "cooldown", "exponential"), flag)
    found["model.enabled"] = (("model", "enabled"), flag)
    found["model.local"] = (("model", "local"), seconds)
    return found


THRESHOLDS = _known()


def overlay(
    data: Mapping[str, Any], document: Document | None, environ: Mapping[str, str], values: dict[str, Value]
) -> tuple[Tree, list[Problem]]:
    """Profiles by class of credential, as file and environment say. What was set is entered into `values`."""
    problems: list[Problem] = []
    tree: Tree = {name: waits(profile) for name, profile in data.get("profiles", {}).items()}
    for name, (path, parse) in THRESHOLDS.items():
        held = _at(tree, path)
        if held is not None and document is not None:
            line, _ = document.at(("profiles", *path))
            values[name] = Value(held, f"{document.file}:{line}")
        raw = environ.get(variable(name))
        if raw is None:
            continue
        try:
            _put(tree, path, parse(raw))
        except ValueError as error:
            problems.append(Problem(variable(name), 0, 0, "FW061", f"`{name}`: {error}"))
            continue
        values[name] = Value(_at(tree, path), f"environment {variable(name)}")
    for name, profile in tree.items():
        for at, message in out_of_bounds(name, profile):
            problems.append(_placed(("profiles", name, *at), message, document, environ))
    for section in ("breaker", "gate"):
        if values[f"{section}.enabled"].source != "default":
            tree.setdefault("all", {})[section] = {"enabled": values[f"{section}.enabled"].value}
    return tree, problems


def own(row: Mapping[str, Any], document: Document | None, path: tuple[str | int, ...]) -> tuple[Tree, list[Problem]]:
    """A connection's own profile, which is for all classes."""
    profile = waits(row.get("profile", {}))
    problems = [_placed((*path, "profile", *at), message, document, {}) for at, message in out_of_bounds("", profile)]
    return {"all": profile} if profile else {}, problems


def waits(tree: Any) -> Any:
    """The same tree with each duration as seconds."""
    if isinstance(tree, Mapping):
        return {key: waits(held) for key, held in tree.items()}
    return duration(tree) if isinstance(tree, str) else tree


def _placed(
    path: tuple[str | int, ...], message: str, document: Document | None, environ: Mapping[str, str]
) -> Problem:
    for name, (at, _) in THRESHOLDS.items():
        if path == ("profiles", *at) and variable(name) in environ:
            return Problem(variable(name), 0, 0, "FW061", message)
    line, column = document.at(path) if document is not None else (0, 0)
    return Problem(document.file if document is not None else "", line, column, "FW061", message)


def _at(tree: Tree, path: tuple[str, ...]) -> Any:
    held: Any = tree
    for step in path:
        held = held.get(step) if isinstance(held, Mapping) else None
    return held


def _put(tree: Tree, path: tuple[str, ...], value: Any) -> None:
    for step in path[:-1]:
        tree = tree.setdefault(step, {})
    tree[path[-1]] = value
