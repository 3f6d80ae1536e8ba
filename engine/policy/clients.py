"""From `kind: clients` files to profiles: overlaid like rules, compiled once, in the order in which they are tried."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from faultwise import dsl
from faultwise.engine.problem import Problem

from .build import Builder
from .client import Client, ClientRestatement
from .client_fields import CALLER, TELLING
from .parsed import Entry, Parsed

UNTOLD = "none"  # as `retry_after`: the client is told no wait
PLACES = ("wait", "reason", "status")  # what a hint may name in braces
_PLACE = re.compile(r"\{([^{}]*)\}")
_CONDITIONS = ("when", "any", "all", "none", "wire")


def merge_clients(files: Iterable[Parsed]) -> tuple[list[Entry], tuple[Problem, ...]]:
    """Profiles in the order they are tried: the operator's in front, the same id replaced, `disable` taken out.

    One without conditions would hide all behind it, so it comes last. An id that stands twice in one source and a
    `disable` of what is not there are problems.
    """
    files = tuple(files)
    found: dict[str, Entry] = {}
    problems = list(_duplicates(files))
    for parsed in sorted(files, key=lambda parsed: -parsed.rank):
        for entry in parsed.entries("clients"):
            found.setdefault(entry.data["id"], entry)
    for parsed in files:
        below = {id for one in files if one.rank < parsed.rank for id in _ids(one)}
        for number, gone in enumerate(parsed.data.get("disable") or ()):
            if gone not in below:
                message = f"`disable` names `{gone}`, which no client or restatement below this file is called"
                problems.append(Entry(parsed.data, parsed, ()).problem(("disable", number), "FW021", message))
            elif gone in found and found[gone].parsed.rank < parsed.rank:
                del found[gone]
    return sorted(found.values(), key=lambda entry: not any(key in entry.data for key in _CONDITIONS)), tuple(problems)


def restatements(entry: Entry, files: Iterable[Parsed]) -> list[Entry]:
    """The restatements of a profile, but those that a file over it disables."""
    rank = entry.parsed.rank
    gone = {id for parsed in files if parsed.rank > rank for id in parsed.data.get("disable") or ()}
    return [one for one in _nested(entry) if one.data["id"] not in gone]


def build_clients(files: Iterable[Parsed], builder: Builder) -> tuple[Client, ...]:
    """The compiled profiles; what is wrong is noted with the builder."""
    files = tuple(files)
    entries, problems = merge_clients(files)
    builder.problems += problems
    return tuple(_client(entry, restatements(entry, files), builder) for entry in entries)


def _client(entry: Entry, inner: Iterable[Entry], builder: Builder) -> Client:
    wire = entry.data.get("wire")
    test = builder.condition(entry, CALLER)
    return Client(
        id=entry.data["id"],
        recognises=test if wire is None else lambda caller: caller.wire == wire and test(caller),
        origin=entry.origin,
        wire=wire,
        restatements=tuple(_restatement(one, builder) for one in inner),
        why=entry.data.get("why", ""),
    )


def _restatement(entry: Entry, builder: Builder) -> ClientRestatement:
    data = entry.data
    for at, name in _places(data.get("hint", "")):
        if name not in PLACES:
            message = f"a hint does not know `{{{name}}}`"
            known = ", ".join(f"{{{place}}}" for place in PLACES)
            builder.problems.append(entry.problem(("hint",), "FW011", message, f"one of {known}", at))
    return ClientRestatement(
        id=data["id"],
        statuses=builder.statuses(entry, "from"),
        holds=builder.condition(entry, TELLING),
        origin=entry.origin,
        to=data.get("to"),
        code=data.get("code"),
        type=data.get("type"),
        retry_after=_wait(entry, builder),
        hint=data.get("hint"),
        headers=tuple((name.lower(), str(value)) for name, value in data.get("headers", {}).items()),
        why=data.get("why", ""),
    )


def _wait(entry: Entry, builder: Builder) -> Callable[[Any], float | None] | None:
    if entry.data.get("retry_after") == UNTOLD:
        return lambda telling: None
    duration = builder.wait(entry, "retry_after", TELLING)
    return None if duration is None else duration.seconds


def _places(hint: str) -> Iterable[tuple[int, str]]:
    return ((found.start(), found[1]) for found in _PLACE.finditer(hint))


def filled(hint: str, wait: float | None, reason: str, status: int) -> str:
    """A hint with its places filled in."""
    values = {
        "wait": "an unknown time" if wait is None else dsl.spell(float(round(wait))),
        "reason": reason.replace("_", " "),
        "status": str(status),
    }
    return _PLACE.sub(lambda found: values[found[1]], hint)


def _nested(entry: Entry) -> list[Entry]:
    own = entry.data.get("restatements") or ()
    return [Entry(data, entry.parsed, (*entry.path, "restatements", number)) for number, data in enumerate(own)]


def _ids(parsed: Parsed) -> Iterable[str]:
    for entry in parsed.entries("clients"):
        yield entry.data["id"]
        yield from (one.data["id"] for one in _nested(entry))


def _duplicates(files: Iterable[Parsed]) -> Iterable[Problem]:
    seen: dict[tuple[int, str], Entry] = {}
    for parsed in files:
        for client in parsed.entries("clients"):
            for entry in (client, *_nested(client)):
                first = seen.setdefault((parsed.rank, entry.data["id"]), entry)
                if first is not entry:
                    message = f"duplicate id `{entry.data['id']}`, first written at {first.origin}"
                    yield entry.problem(("id",), "FW022", message)
