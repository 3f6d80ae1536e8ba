"""From rule files to a policy, or every problem in them.

    files -> parsed (form held against the schemas) -> merged (overlays, bases) -> compiled -> Policy

Nothing is half-loaded: a single error anywhere, and there is no policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, MutableMapping
from hashlib import sha256
from typing import Any

from faultwise import dsl
from faultwise.engine.problem import PolicyError, Problem

from .build import Builder
from .clients import build_clients
from .digest import digest
from .each import idle, single
from .model import Clock, Provider, Restatement, Rule
from .overlay import Draft, merge_general, merge_policy, merge_providers
from .parsed import Entry, Parsed, parse
from .policy import Policy
from .source import SourceFile, Sources
from .vocabulary import Vocabulary, build_vocabulary

# By file what `parse` made of it; under COMPILED what became of the entries. The longest unused comes first.
Memo = MutableMapping[bytes, Any]
COMPILED = b"compiled"
SHOWN = 60  # characters of a name in a message
UNKNOWN = "FW021"  # a name that stands nowhere
_KIND = re.compile(rb"^kind:\s*[\"']?(\w+)", re.MULTILINE)


def load(sources: Sources, memo: Memo | None = None) -> Policy:
    """Compile a snapshot of rule files. `memo` spares unchanged files the work on the next load.

    Raises `PolicyError` with every problem found.
    """
    memo = {} if memo is None else memo
    files, problems = _parse(sources.files, memo)
    broken = _kinds(sources.files, problems)
    of_kind = {
        kind: tuple(one for one in files if one.kind == kind) for kind in ("policy", "provider", "rules", "clients")
    }
    merged = merge_policy(of_kind["policy"])
    vocabulary, found = build_vocabulary(merged, of_kind["policy"])
    problems += _certain(found, "policy" in broken)
    drafts, found = merge_providers(of_kind["provider"])
    problems += _certain(found, "provider" in broken)
    general = merge_general(of_kind["rules"])
    problems += _duplicates(files)
    # cases of `kind: clients` say what a client is told, not what a failure is
    cases = [case for parsed in files if parsed.kind != "clients" for case in parsed.entries("cases")]
    problems += (problem for case in cases for problem in idle(case))
    problems += _clocks(of_kind["provider"])
    builder = _builder(vocabulary, memo)
    providers = {draft.name: _provider(draft, builder) for draft in drafts.values()}
    rules = [builder.rule(entry, layer, None) for entry, layer in general]
    clients = build_clients(of_kind["clients"], builder)
    problems += _certain(builder.problems, "policy" in broken)
    memo.pop(COMPILED, None)
    memo[COMPILED] = _context(vocabulary), builder.made
    errors = dict.fromkeys(problem for problem in problems if problem.severity == "error")
    if errors:
        raise PolicyError(errors)
    return Policy(
        digest=digest((parsed.shipped, parsed.digest) for parsed in files if parsed.kind != "cases"),
        files=tuple(file.name for file in sources.files),
        reasons=vocabulary.reasons,
        terminals=vocabulary.terminals,
        allowlists=vocabulary.allowlists,
        caps=vocabulary.caps,
        profiles=vocabulary.profiles,
        markers=vocabulary.markers,
        envelopes=vocabulary.envelopes,
        providers={name.lower(): one for one in providers.values() for name in (one.name, *one.aliases)},
        general=_live(rules),
        defaults=vocabulary.defaults,
        clients=clients,
        cases=tuple(one for case in cases for one in single(case)),
        client_cases=tuple(case for parsed in of_kind["clients"] for case in parsed.entries("cases")),
    )


def _parse(files: Iterable[SourceFile], memo: Memo) -> tuple[list[Parsed], list[Problem]]:
    parsed: list[Parsed] = []
    problems: list[Problem] = []
    for file in files:
        key = sha256(f"{file.rank}\0{file.name}\0".encode() + file.data).digest()
        one, found = memo[key] = memo.pop(key, None) or parse(file)
        problems += found
        parsed += () if one is None else (one,)
    return parsed, problems


def _kinds(files: Iterable[SourceFile], problems: Iterable[Problem]) -> set[str]:
    """The kinds of the files that have problems, also where they cannot be read as YAML."""
    broken = {problem.file for problem in problems}
    found = (_KIND.search(file.data) for file in files if file.name in broken)
    return {kind[1].decode() for kind in found if kind is not None}


def _certain(problems: Iterable[Problem], broken: bool) -> Iterator[Problem]:
    """What is wrong for sure: a name that stands nowhere may stand in what could not be read."""
    return (problem for problem in problems if not broken or problem.code != UNKNOWN)


def _builder(vocabulary: Vocabulary, memo: Memo) -> Builder:
    """A builder that takes over what the last one made, where the words still mean the same."""
    context, known = memo.get(COMPILED, (None, {}))
    known = known if context == _context(vocabulary) else {}
    return Builder(
        vocabulary.reasons, vocabulary.markers, vocabulary.allowlists, frozenset(vocabulary.terminals), known=known
    )


def _context(vocabulary: Vocabulary) -> object:
    """All that compiled entries depend on besides themselves."""
    names = frozenset(vocabulary.reasons), frozenset(vocabulary.terminals)
    return names, vocabulary.markers, vocabulary.allowlists


def _provider(draft: Draft, builder: Builder) -> Provider:
    facts = draft.facts
    reset = facts.get("reset")
    clock = None
    if reset is not None:
        hour, minute = map(int, reset["at"].split(":"))
        clock = Clock(hour, minute, reset["zone"])
    restatements: list[Restatement | None] = [
        builder.restatement(entry, layer, draft.name) for entry, layer in draft.restatements
    ]
    return Provider(
        name=draft.name,
        aliases=tuple(dict.fromkeys(draft.aliases)),
        auth=facts.get("auth", "api_key"),
        quota_unit=facts.get("quota_unit", "connection"),
        families={name: tuple(patterns) for name, patterns in facts.get("families", {}).items()},
        family=facts.get("family"),
        reset=clock,
        # moments that name no zone, or an ambiguous one such as CST, are in the zone in which the quotas refill
        stated=({"zone": clock.zone} if clock else {}) | facts.get("stated", {}),
        restatements=tuple(one for one in restatements if one is not None),
        rules=_live(builder.rule(entry, layer, draft.name) for entry, layer in draft.rules),
    )


def _live(rules: Iterable[Rule | None]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule is not None and rule.mode == "live")


def _clocks(files: Iterable[Parsed]) -> Iterator[Problem]:
    """What provider files say of clocks that no clock shows, and zones that do not exist."""
    for parsed in files:
        entry = Entry(parsed.data, parsed, ())
        for key in ("reset", "stated"):
            section = parsed.data.get(key) or {}
            zone = section.get("zone")
            if zone is not None and not dsl.is_zone(zone):
                name = zone if len(zone) <= SHOWN else f"{zone[: SHOWN - 1]}…"
                hint = "write a name of the IANA time zone database, such as `Asia/Shanghai` or `UTC`"
                yield entry.problem((key, "zone"), "FW011", f"unknown time zone `{name}`", hint)


def _duplicates(files: Iterable[Parsed]) -> list[Problem]:
    """An id written twice in one source; between sources the later one replaces the earlier."""
    seen: dict[tuple[int, str], Entry] = {}
    problems = []
    for parsed in files:
        for kind in ("restatements", "rules"):
            for entry in parsed.entries(kind):
                first = seen.setdefault((parsed.rank, entry.data["id"]), entry)
                if first is not entry:
                    message = f"duplicate id `{entry.data['id']}`, first written at {first.origin}"
                    problems.append(entry.problem(("id",), "FW022", message))
    return problems
