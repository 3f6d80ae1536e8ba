"""The tables of `kind: policy`: reasons, terminals, caps, allowlists, profiles, markers, status defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from faultwise import dsl
from faultwise.engine.failure.envelope import Envelopes, compile_envelopes
from faultwise.engine.failure.fields import FULL
from faultwise.engine.problem import Problem

from .build import Builder
from .model import Allowlists, Origin, Reason, Rule, StatusSet, Terminal
from .parsed import Parsed
from .profiles import out_of_bounds
from .statuses import parse_statuses

NEEDED = ("fault", "temporary", "fallback", "wait_ok", "lock", "status")  # of a reason, by whichever files
OUR_FAULTS = frozenset({"caller", "gateway", "policy"})  # nothing upstream is wrong: these lock nothing


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the words in rules mean, before any rule is read."""

    reasons: Mapping[str, Reason]
    terminals: Mapping[str, Terminal]
    allowlists: Allowlists
    caps: Mapping[str, float]
    profiles: Mapping[str, Any]
    markers: Mapping[str, tuple[str, ...]]
    envelopes: Envelopes
    defaults: Mapping[int | str, Rule]


def build_vocabulary(merged: Mapping[str, Any], files: Iterable[Parsed]) -> tuple[Vocabulary, tuple[Problem, ...]]:
    """The vocabulary of merged policy files; problems are placed in the last file that wrote the key."""
    places = _Places(tuple(files))
    problems: list[Problem] = []
    markers = {name: tuple(words) for name, words in merged.get("markers", {}).items()}
    terminals = merged.get("terminals", {})
    reasons = {}
    for name, row in merged.get("reasons", {}).items():
        if (reason := _reason(name, row, markers, places, problems)) is not None:
            reasons[name] = reason
            if reason.terminal is not None and reason.terminal not in terminals:
                path = ("reasons", name, "terminal")
                problems.append(places.unknown(path, "terminal", reason.terminal, terminals))
    for name, row in terminals.items():
        if (refused := row.get("refused")) is not None and refused not in reasons:
            problems.append(places.unknown(("terminals", name, "refused"), "reason", refused, reasons))
    profiles = _waits(merged.get("profiles", {}))
    for name, profile in profiles.items():
        for at, message in out_of_bounds(name, profile):
            problems.append(places.problem(("profiles", name, *at), "FW011", message))
    vocabulary = Vocabulary(
        reasons,
        {name: _terminal(name, row, markers) for name, row in terminals.items()},
        Allowlists(**{name: frozenset(map(str.lower, names)) for name, names in merged.get("allowlists", {}).items()}),
        {name: dsl.duration(wait) for name, wait in merged.get("caps", {}).items()},
        profiles,
        markers,
        _envelopes(merged.get("envelopes", {}), places, problems),
        _defaults(merged.get("defaults", {}), reasons, places, problems),
    )
    return vocabulary, tuple(problems)


class _Places:
    """Where keys of the merged content were written."""

    def __init__(self, files: tuple[Parsed, ...]) -> None:
        self._files = files

    def problem(self, path: tuple[str | int, ...], code: str, message: str, hint: str = "", offset: int = 0) -> Problem:
        parsed = self._file(path)
        if parsed is None:
            return Problem("policy.yaml", 0, 0, code, message, hint)
        line, column = parsed.document.locate(path, offset)
        return Problem(parsed.name, line, column, code, message, hint)

    def unknown(self, path: tuple[str | int, ...], what: str, name: str, known: Iterable[str]) -> Problem:
        near = get_close_matches(name, known, 1)
        return self.problem(path, "FW021", f"unknown {what} `{name}`", f"did you mean `{near[0]}`?" if near else "")

    def origin(self, path: tuple[str | int, ...]) -> Origin:
        parsed = self._file(path)
        if parsed is None:
            return Origin("policy.yaml")
        return Origin(parsed.name, *parsed.document.at(path), parsed.shipped)

    def _file(self, path: tuple[str | int, ...]) -> Parsed | None:
        for parsed in reversed(self._files):
            held: Any = parsed.data
            for step in path:
                # a status may have been written in quotes
                held = held.get(step, held.get(str(step))) if isinstance(held, Mapping) else None
            if held is not None:
                return parsed
        return None


def _reason(
    name: str, row: Mapping[str, Any], markers: Mapping[str, tuple[str, ...]], places: _Places, problems: list[Problem]
) -> Reason | None:
    missing = [key for key in NEEDED if key not in row]
    if missing:  # rows may be written in parts, so that only what all files say together is known to lack a key
        hint = "a new reason says what it means; a known one keeps what is not written"
        problems += (places.problem(("reasons", name), "FW012", f"missing key `{key}`", hint) for key in missing)
        return None
    try:
        accepts = parse_statuses([row["status"], *row.get("accepts", ())])
    except ValueError as error:
        problems.append(places.problem(("reasons", name, "accepts"), "FW011", str(error)))
        return None

    def report(message: str, hint: str, offset: int) -> None:
        problems.append(places.problem(("reasons", name, "cooldown"), "FW020", message, hint, offset))

    cooldown = None
    if "cooldown" in row:
        cooldown = Builder({}, markers, Allowlists()).duration(row["cooldown"], report, FULL)
    return Reason(
        name=name,
        fault=row["fault"],
        temporary=row["temporary"],
        fallback=row["fallback"],
        wait_ok=row["wait_ok"],
        lock=row["lock"],
        status=row["status"],
        accepts=accepts,
        cooldown=cooldown,
        breaker=row.get("breaker", False),
        terminal=row.get("terminal"),
        locks=row["fault"] not in OUR_FAULTS and row["lock"] != "request",
        quota=row.get("quota", False),
        steps=tuple(map(dsl.duration, row.get("steps", ()))),
    )


def _terminal(name: str, row: Mapping[str, Any], markers: Mapping[str, tuple[str, ...]]) -> Terminal:
    codes: list[str] = []
    for code in row.get("codes", ()):
        codes += markers.get(code[1:], ()) if code.startswith("@") else (code,)
    return Terminal(
        name=name,
        statuses=frozenset(row.get("statuses", ())),
        codes=frozenset(map(dsl.fold, codes)),
        recheck=dsl.duration(row["recheck"]) if "recheck" in row else None,
        refused=row.get("refused"),
        refused_statuses=frozenset(row.get("refused_statuses", ())),
        episodes=row.get("episodes", 1),
        within=dsl.duration(row.get("within", "24h")),
    )


def _envelopes(section: Mapping[str, Any], places: _Places, problems: list[Problem]) -> Envelopes:
    try:
        return compile_envelopes(section)
    except ValueError as error:
        problems.append(places.problem(("envelopes",), "FW011", str(error)))
        return compile_envelopes({})


def _defaults(
    table: Mapping[int | str, str], reasons: Mapping[str, Reason], places: _Places, problems: list[Problem]
) -> dict[int | str, Rule]:
    """One rule for each status and kind; the narrower key wins."""
    rules: dict[int | str, Rule] = {}
    width: dict[int | str, int] = {}
    for key, reason in table.items():
        path = ("defaults", key)
        if reason not in reasons:
            problems.append(places.problem(path, "FW021", f"unknown reason `{reason}`"))
            continue
        try:
            meant = parse_statuses(key)
        except ValueError as error:
            problems.append(places.problem(path, "FW011", str(error)))
            continue
        members: set[int | str] = {*meant.numbers, *meant.kinds}
        for one in members:
            if len(members) <= width.get(one, len(members)):
                width[one] = len(members)
                only = StatusSet(
                    frozenset({one} if isinstance(one, int) else ()), frozenset({one} if isinstance(one, str) else ())
                )
                rules[one] = Rule(f"default-{one}", None, only, (), reason, places.origin(path), "default")
    if 200 not in rules and "unknown" in reasons:
        rules[200] = Rule(
            "default-200", None, StatusSet(frozenset({200})), (), "unknown", places.origin(("defaults",)), "default"
        )
    return rules


def _waits(value: Any) -> Any:
    """The same tree with each duration as float seconds; words and numbers stay."""
    if isinstance(value, Mapping):
        return {key: _waits(held) for key, held in value.items()}
    return dsl.duration(value) if isinstance(value, str) else value
