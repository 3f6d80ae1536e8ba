"""From a rule as written to a rule that can be evaluated: status sets, conditions, durations, overrides.

Everything wrong in an entry is reported, not just the first thing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, TypedDict, TypeVar, cast

from faultwise import dsl
from faultwise.dsl.nodes import And, Exists
from faultwise.engine.failure.fields import FULL, TERSE
from faultwise.engine.failure.reading import Reading
from faultwise.engine.problem import Problem

from .model import Allowlists, Condition, Duration, Reason, Restatement, Rule, Sign, StatusSet
from .parsed import Entry
from .statuses import parse_statuses

NO_TERMINAL = "none"  # of a rule: it never ends a connection
MARKERS = ("any", "all", "none")
WITHIN_TEXT = ("text", "code", "type", "param", "message")  # the fields of which a reading's `text` holds everything
SIGNS = ("header", "json", "outer", "inner_status", "stated")  # values that cost little to find, and few failures have


T = TypeVar("T", Rule, Restatement)
# By the identity of an entry's data, which lives as long as the entry beside what was made of it.
Compiled = dict[tuple[int, tuple[str | int, ...], str, str | None], tuple[Entry, Rule | Restatement]]


class _Needs(TypedDict):
    needs: frozenset[str] | None
    signs: tuple[Sign, ...]


@dataclass(slots=True)
class Builder:
    """Compiles entries against one vocabulary; `problems` collects what it could not.

    `made` are the entries it compiled. Another builder with the same vocabulary takes them over as `known`.
    """

    reasons: Mapping[str, Reason]
    lists: Mapping[str, tuple[str, ...]]
    allowlists: Allowlists
    terminals: Collection[str] = ()
    problems: list[Problem] = field(default_factory=list)
    known: Compiled = field(default_factory=dict)
    made: Compiled = field(default_factory=dict)

    def rule(self, entry: Entry, layer: str, provider: str | None) -> Rule | None:
        """The compiled rule, or None with the problems noted."""
        return self._once(self._rule, entry, layer, provider)

    def restatement(self, entry: Entry, layer: str, provider: str) -> Restatement | None:
        """The compiled restatement, or None with the problems noted."""
        return self._once(self._restatement, entry, layer, provider)

    def _once(
        self, build: Callable[[Entry, str, Any], T | None], entry: Entry, layer: str, provider: str | None
    ) -> T | None:
        """What `known` has of an entry, or what `build` makes of it."""
        key = (id(entry.data), entry.path, layer, provider)
        found = self.known.get(key)
        if found is None:
            built = build(entry, layer, provider)
            if built is None:
                return None
            found = entry, built
        self.made[key] = found
        return cast(T, found[1])

    def _rule(self, entry: Entry, layer: str, provider: str | None) -> Rule | None:
        data = entry.data
        before = len(self.problems)
        environment = self._environment(entry, layer, provider)
        nodes = self._nodes(entry, environment)
        statuses = self._statuses(entry, "status")
        if data["reason"] not in self.reasons:
            self._unknown(entry, ("reason",), "reason", data["reason"], self.reasons)
        if data.get("terminal", NO_TERMINAL) not in (NO_TERMINAL, *self.terminals):
            self._unknown(entry, ("terminal",), "terminal", data["terminal"], self.terminals)
        cooldown = self._duration(entry, "cooldown", environment)
        expires = _day(data.get("expires"))
        if len(self.problems) > before:
            return None
        return Rule(
            id=data["id"],
            provider=provider,
            statuses=statuses,
            conditions=(*_gates(data, expires), *self._conditions(nodes, environment)),
            reason=data["reason"],
            origin=entry.origin,
            layer=layer,
            why=data.get("why", ""),
            see=_texts(data.get("see")),
            tags=_texts(data.get("tags")),
            phases=frozenset(_texts(data.get("phase"))),
            lock=data.get("lock"),
            cooldown=cooldown,
            cap=dsl.duration(data["cap"]) if "cap" in data else None,
            temporary=data.get("temporary"),
            fallback=data.get("fallback"),
            wait_ok=data.get("wait_ok"),
            fault=data.get("fault"),
            status=data.get("tell"),
            terminal=data.get("terminal"),
            mode=data.get("mode", "live"),
            expires=expires,
            **self._needs(nodes, environment),
        )

    def _restatement(self, entry: Entry, layer: str, provider: str) -> Restatement | None:
        data = entry.data
        before = len(self.problems)
        environment = self._environment(entry, layer, provider)
        nodes = self._nodes(entry, environment)
        statuses = self._statuses(entry, "from")
        retry_after = self._duration(entry, "retry_after", environment)
        if len(self.problems) > before:
            return None
        return Restatement(
            id=data["id"],
            provider=provider,
            statuses=statuses,
            to=data["to"],
            conditions=(*_gates(data, None), *self._conditions(nodes, environment)),
            origin=entry.origin,
            why=data.get("why", ""),
            see=_texts(data.get("see")),
            phases=frozenset(_texts(data.get("phase"))),
            retry_after=retry_after,
            **self._needs(nodes, environment),
        )

    def duration(
        self, text: str, report: Callable[[str, str, int], None], environment: dsl.Environment
    ) -> Duration | None:
        """A declared wait: a literal such as `90s` or an expression such as `stated else 1h`."""
        node = self._checked(text, dsl.Type.DURATION, report, environment)
        return None if node is None else Duration(text, dsl.compile(node, environment, self.lists))

    def condition(self, entry: Entry, environment: dsl.Environment) -> Callable[[Any], bool]:
        """`any`, `all`, `none` and `when` of an entry that is no rule, as one test; without any, it always holds."""
        nodes = self._nodes(entry, environment)
        return dsl.compile(And(nodes), environment, self.lists) if nodes else lambda subject: True

    def wait(self, entry: Entry, key: str, environment: dsl.Environment) -> Duration | None:
        """A declared wait of an entry that is no rule."""
        return self._duration(entry, key, environment)

    def statuses(self, entry: Entry, key: str) -> StatusSet:
        """The statuses an entry names under a key."""
        return self._statuses(entry, key)

    def _environment(self, entry: Entry, layer: str, provider: str | None) -> dsl.Environment:
        """Shipped provider rules see prose only where the allowlist says so; all others always do."""
        if layer != "shipped-provider" or provider is None:
            return FULL
        allowed = self.allowlists.full_text
        written_for = str(entry.parsed.data.get("provider", "")).lower()
        return FULL if {"*", provider, written_for} & allowed else TERSE

    def _nodes(self, entry: Entry, environment: dsl.Environment) -> tuple[dsl.Node, ...]:
        """`any`, `all`, `none` and `when`, as the conditions they join with `and`."""
        nodes: list[dsl.Node] = []
        for quantifier in MARKERS:
            if quantifier in entry.data:
                nodes += self._markers(entry, quantifier, environment)
        if "when" in entry.data:
            report = self._reporter(entry, ("when",))
            when = self._checked(entry.data["when"], dsl.Type.BOOL, report, environment)
            nodes += () if when is None else dsl.conjuncts(when)
        return tuple(nodes)

    def _markers(self, entry: Entry, quantifier: str, environment: dsl.Environment) -> tuple[dsl.Node, ...]:
        written = entry.data[quantifier]
        numbered = tuple(self._spread(entry, quantifier, [written] if isinstance(written, str) else written))
        if not numbered:
            return ()  # nothing but unknown lists, which have been reported
        # a marker has no text around it: its span is the number of the item it came from
        spans = tuple(dsl.Span(number, number) for number, _ in numbered)
        node = dsl.markers("text", quantifier, tuple(marker for _, marker in numbered), spans)
        errors = dsl.check(node, environment, self.lists, dsl.Type.BOOL)
        for error in errors:
            key = (quantifier,) if isinstance(written, str) else (quantifier, error.span.start)
            self.problems.append(entry.problem(key, "FW020", error.message, error.hint))
        return () if errors else (node,)

    def _spread(self, entry: Entry, quantifier: str, values: Iterable[str]) -> Iterable[tuple[int, str]]:
        for number, value in enumerate(values):
            if not value.startswith("@"):
                yield number, value
            elif value[1:] in self.lists:
                yield from ((number, marker) for marker in self.lists[value[1:]])
            else:
                self._unknown(entry, (quantifier, number), "list", value[1:], self.lists)

    def _checked(
        self, text: str, expect: dsl.Type, report: Callable[[str, str, int], None], environment: dsl.Environment
    ) -> dsl.Node | None:
        try:
            node = dsl.parse(text)
        except dsl.DslError as broken:
            report(broken.message, broken.hint, broken.span.start)
            return None
        errors = dsl.check(node, environment, self.lists, expect)
        for error in errors:
            report(error.message, error.hint, error.span.start)
        return None if errors else node

    def _reporter(self, entry: Entry, key: tuple[str | int, ...]) -> Callable[[str, str, int], None]:
        def report(message: str, hint: str, offset: int) -> None:
            self.problems.append(entry.problem(key, "FW020", message, hint, offset))

        return report

    def _conditions(self, nodes: Iterable[dsl.Node], environment: dsl.Environment) -> tuple[Condition, ...]:
        return tuple(Condition(dsl.source(node), dsl.compile(node, environment, self.lists)) for node in nodes)

    def _needs(self, nodes: tuple[dsl.Node, ...], environment: dsl.Environment) -> _Needs:
        """What `Bucket` looks for before it evaluates a rule."""
        needs = dsl.needs(And(nodes), WITHIN_TEXT, SIGNS, self.lists)
        if needs is None:
            return {"needs": None, "signs": ()}
        signs = (
            Sign(node.name, getattr(node, "key", ""), dsl.compile(Exists(node), environment, self.lists))
            for node in needs.values
        )
        return {"needs": needs.markers, "signs": tuple(signs)}

    def _duration(self, entry: Entry, key: str, environment: dsl.Environment) -> Duration | None:
        if key not in entry.data:
            return None
        return self.duration(entry.data[key], self._reporter(entry, (key,)), environment)

    def _statuses(self, entry: Entry, key: str) -> StatusSet:
        try:
            return parse_statuses(entry.data[key])
        except ValueError as error:
            self.problems.append(entry.problem((key,), "FW011", str(error)))
            return StatusSet(frozenset())

    def _unknown(self, entry: Entry, key: tuple[str | int, ...], what: str, name: str, known: Iterable[str]) -> None:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean `{near[0]}`?" if near else ""
        self.problems.append(entry.problem(key, "FW021", f"unknown {what} `{name}`", hint))


def _gates(data: Mapping[str, Any], expires: float | None) -> Iterable[Condition]:
    """Conditions that are keys of their own: the phase, and the day after which a rule is void."""
    phases = frozenset(_texts(data.get("phase")))
    if phases:
        yield Condition(f"phase in {sorted(phases)}", lambda reading: reading.phase in phases)
    if expires is not None:

        def current(reading: Reading, until: float = expires) -> bool:
            return bool(reading.now < until)

        yield Condition(f"not expired on {data['expires']}", current)


def _day(text: str | None) -> float | None:
    """The start of a day in UTC, as seconds since the epoch; the schema has held its form."""
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _texts(value: str | Iterable[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
