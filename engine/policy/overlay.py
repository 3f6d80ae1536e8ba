"""How rule files lie over each other: the operator's over the shipped ones, a file over the base it extends.

Nothing is compiled here; the result is which entries count, in which order, and where each was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from faultwise.engine.problem import Problem

from .parsed import Entry, Parsed

FACTS = ("auth", "quota_unit", "families", "family", "reset", "stated")  # what a provider file says besides rules


@dataclass(slots=True)
class Draft:
    """A provider before its rules are compiled: facts, and entries with the layer each is tried in."""

    name: str
    aliases: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    restatements: list[tuple[Entry, str]] = field(default_factory=list)
    rules: list[tuple[Entry, str]] = field(default_factory=list)


def merge_policy(files: Iterable[Parsed]) -> dict[str, Any]:
    """The content of all `kind: policy` files, key by key: lists replace, `+name` appends to a list."""
    merged: dict[str, Any] = {}
    for parsed in files:
        own = {key: value for key, value in parsed.data.items() if key not in ("faultwise", "kind")}
        if "defaults" in own:
            own["defaults"] = {_status(key): reason for key, reason in own["defaults"].items()}
        _lay(merged, own)
    return merged


def _status(key: int | str) -> int | str:
    """A status written in quotes is the same key as one without."""
    return int(key) if isinstance(key, str) and key.isascii() and key.isdigit() else key


def _lay(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(key, str) and key.startswith("+"):
            under[key[1:]] = [*under.get(key[1:], ()), *value]
        elif isinstance(value, Mapping):
            held = under.get(key)
            layered = dict(held) if isinstance(held, Mapping) else {}
            _lay(layered, value)
            under[key] = layered
        else:
            under[key] = value


def merge_providers(files: Iterable[Parsed]) -> tuple[dict[str, Draft], tuple[Problem, ...]]:
    """Every provider by its lower-cased name: the operator's rules in front, the same id replaced, `disable` removed."""
    files = tuple(files)
    names, problems = _names(files)
    drafts: dict[str, Draft] = {}
    owned: dict[str, list[Parsed]] = {name: [] for name in names.values()}
    for parsed in files:
        owned[names[parsed.data["provider"].lower()]].append(parsed)
    for name, own in owned.items():
        draft = Draft(name)
        # later files lie over earlier ones, so they come first
        for parsed in reversed(own):
            layer = "shipped-provider" if parsed.shipped else "operator-provider"
            _add(draft, parsed, layer)
            base, found = _bases(parsed, owned, names)
            problems += found
            for inherited in base:
                _add(draft, inherited, layer if inherited.shipped else "operator-provider")
        problems += _disable(draft, own)
        drafts[name] = draft
    return drafts, tuple(problems)


def _names(files: tuple[Parsed, ...]) -> tuple[dict[str, str], list[Problem]]:
    """From each name or alias to the provider it means."""
    names: dict[str, str] = {}
    problems: list[Problem] = []
    for parsed in files:
        written = parsed.data["provider"].lower()
        name = names.setdefault(written, written)
        for number, alias in enumerate(parsed.data.get("aliases") or ()):
            if names.setdefault(alias.lower(), name) != name:
                entry = Entry(parsed.data, parsed, ())
                message = f"alias `{alias}` already means provider `{names[alias.lower()]}`"
                problems.append(entry.problem(("aliases", number), "FW022", message))
    return names, problems


def _add(draft: Draft, parsed: Parsed, layer: str) -> None:
    draft.aliases += [
        alias for alias in parsed.data.get("aliases") or () if draft.name == parsed.data["provider"].lower()
    ]
    for key in FACTS:
        if key in parsed.data:
            draft.facts.setdefault(key, parsed.data[key])
    for kind, held in (("restatements", draft.restatements), ("rules", draft.rules)):
        known = {entry.data["id"] for entry, _ in held}
        held += [(entry, layer) for entry in parsed.entries(kind) if entry.data["id"] not in known]


def _bases(
    parsed: Parsed, owned: Mapping[str, list[Parsed]], names: Mapping[str, str]
) -> tuple[tuple[Parsed, ...], tuple[Problem, ...]]:
    """The files a file extends, nearest first; an unknown base or a cycle is a problem.

    A base is all files of that provider, later ones first: what an operator lays over it is inherited too.
    """
    chain: list[Parsed] = []
    seen = [parsed.data["provider"].lower()]
    group = [parsed]
    while (current := next((one for one in group if "extends" in one.data), None)) is not None:
        base = current.data["extends"]
        entry = Entry(current.data, current, ())
        name = names.get(base.lower())
        if name is None:
            near = get_close_matches(base.lower(), names, 1)
            hint = f"did you mean `{near[0]}`?" if near else ""
            return (), (entry.problem(("extends",), "FW021", f"unknown base `{base}`", hint),)
        if name in seen:
            return (), (
                entry.problem(("extends",), "FW021", f"`extends` runs in a circle: {' -> '.join([*seen, name])}"),
            )
        seen.append(name)
        group = owned[name][::-1]
        chain += group
    return tuple(chain), ()


def _disable(draft: Draft, own: list[Parsed]) -> list[Problem]:
    """Take out what operators' files switch off; an id that is not there is a problem, not a wish."""
    problems = []
    for parsed in own:
        for number, gone in enumerate(parsed.data.get("disable") or ()):
            before = len(draft.rules) + len(draft.restatements)
            # a file that disables an id and defines it anew keeps its own
            draft.rules = [pair for pair in draft.rules if pair[0].data["id"] != gone or pair[0].parsed is parsed]
            draft.restatements = [
                pair for pair in draft.restatements if pair[0].data["id"] != gone or pair[0].parsed is parsed
            ]
            if len(draft.rules) + len(draft.restatements) == before:
                entry = Entry(parsed.data, parsed, ())
                message = f"`disable` names `{gone}`, which provider `{draft.name}` does not have"
                problems.append(entry.problem(("disable", number), "FW021", message))
    return problems


def merge_general(files: Iterable[Parsed]) -> list[tuple[Entry, str]]:
    """General rules in the order they are tried: the operator's files, then the shipped ones; the same id replaced."""
    ordered = list(files)
    operator = sorted((parsed for parsed in ordered if not parsed.shipped), key=lambda parsed: -parsed.rank)
    shipped = [parsed for parsed in ordered if parsed.shipped]
    gone = {rule_id for parsed in operator for rule_id in parsed.data.get("disable") or ()}
    taken: set[str] = set()
    rules: list[tuple[Entry, str]] = []
    for parsed in (*operator, *shipped):
        layer = "shipped-general" if parsed.shipped else "operator-general"
        for entry in parsed.entries("rules"):
            rule_id = entry.data["id"]
            if rule_id in taken or (parsed.shipped and rule_id in gone):
                continue
            rules.append((entry, layer))
        taken |= {entry.data["id"] for entry in parsed.entries("rules")} if not parsed.shipped else set()
    return rules
