"""The lists of `gateway.yaml`: each row read, or what is wrong with it and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

from faultwise.engine.failure.record import WIRES
from faultwise.engine.policy.document import Document
from faultwise.engine.problem import Problem
from faultwise.engine.routing.strategies import STRATEGIES

from .gateway import Choice, Combo, Connection, Deadlines, Emergency, Key
from .journal.redact import Pattern, pattern
from .layers import Value, portion, seconds
from .overlay import own
from .secret import Secret

EMERGENCIES = ("quota_exhausted", "credits_exhausted")  # reasons for the emergency fallback where none are declared
MADE = "`faultwise new key NAME` makes a key and its row"
_UNFIT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # what would end a header, or hide in it
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(slots=True)
class Reader:
    """Builds the lists of the file and notes what is wrong with them."""

    data: Mapping[str, Any]
    document: Document | None
    problems: list[Problem]

    def connections(self, base: Deadlines) -> dict[str, Connection]:
        """By id. `base`: the deadlines of one that sets none."""
        found: dict[str, Connection] = {}
        for number, row in enumerate(self.data.get("connections", ())):
            where = ("connections", number)
            if self._known(row["id"], found, (*where, "id"), "connection"):
                continue
            url = urlsplit(row["base_url"])
            if url.scheme not in ("http", "https") or not url.hostname:
                self._note((*where, "base_url"), "FW062", "`base_url` is not an http or https address")
            if row.get("wire", "openai") not in WIRES:
                self._note((*where, "wire"), "FW062", f"unknown wire `{row['wire']}`", f"one of {', '.join(WIRES)}")
            secret = row.get("secret")
            for place, text in (("secret", secret or ""), *row.get("headers", {}).items()):
                if _UNFIT.search(f"{place}{text}"):
                    path = (*where, "secret") if place == "secret" else (*where, "headers", place)
                    self._note(
                        path, "FW062", f"`{place}` cannot be sent in a header: it holds a line break or the like"
                    )
            endpoints = row.get("endpoints")
            profile, wrong = own(row, self.document, where)
            self.problems += wrong
            found[row["id"]] = Connection(
                id=row["id"],
                provider=row["provider"],
                base_url=row["base_url"],
                wire=row.get("wire", "openai"),
                secret=Secret(str(secret)) if secret else None,
                auth=row.get("auth"),
                endpoints=None if endpoints is None else frozenset(endpoints),
                models=tuple(row.get("models", ())),
                headers=tuple((name.lower().encode(), text.encode()) for name, text in row.get("headers", {}).items()),
                egress=row.get("egress"),
                weight=row.get("weight", 1.0),
                max_concurrent=row.get("max_concurrent"),
                rpm=row.get("rpm"),
                tpm=row.get("tpm"),
                quota_cutoff=self._share(row.get("quota_cutoff"), (*where, "quota_cutoff")),
                cooling=not row.get("disable_cooling", False),
                profile=profile,
                deadlines=self._deadlines(row.get("deadlines", {}), base, where),
            )
        return found

    def combos(self, connections: Mapping[str, Connection]) -> dict[str, Combo]:
        """By name; their targets are among these connections."""
        found: dict[str, Combo] = {}
        for name, row in self.data.get("combos", {}).items():
            where = ("combos", str(name))
            strategy = row.get("strategy", "priority")
            if strategy not in STRATEGIES:
                hint = f"one of {', '.join(STRATEGIES)}"
                self._note((*where, "strategy"), "FW064", f"the strategy `{strategy}` is not known here", hint)
            targets = self._targets(row, connections, where, f"combo `{name}`")
            found[str(name)] = Combo(str(name), targets, strategy)
        return found

    def emergency(self, connections: Mapping[str, Connection], values: Mapping[str, Value]) -> Emergency | None:
        """The emergency fallback; None where it is off."""
        row = self.data.get("emergency", {})
        targets = self._targets(row, connections, ("emergency",), "`emergency`")
        if not values["emergency.enabled"].value:
            return None
        if not targets:
            self._note(("emergency",), "FW063", "`emergency` is enabled and names no target")
        reasons = frozenset(row.get("reasons", EMERGENCIES))
        return Emergency(targets, reasons, values["emergency.max_tokens"].value)

    def _targets(
        self, row: Mapping[str, Any], connections: Mapping[str, Connection], where: tuple[str | int, ...], what: str
    ) -> tuple[Choice, ...]:
        """The targets that a row lists; `what`: how it is told what is wrong with one."""
        targets = []
        providers = {connection.provider.lower() for connection in connections.values()}
        for number, one in enumerate(row.get("targets", ())):
            at: tuple[str | int, ...] = (*where, "targets", number)
            choice = Choice(one["model"], one.get("connection"), one.get("provider"), one.get("weight"))
            targets.append(choice)
            if choice.connection is not None and choice.connection not in connections:
                message = f"{what}: unknown connection `{choice.connection}`"
                self._note((*at, "connection"), "FW063", message, _one_of(connections, choice.connection))
            elif choice.connection is None and choice.provider is None:
                self._note(at, "FW063", f"{what}: a target names neither a connection nor a provider")
            elif choice.connection is None and str(choice.provider).lower() not in providers:
                message = f"{what}: no connection has the provider `{choice.provider}`"
                self._note((*at, "provider"), "FW063", message, _one_of(providers, str(choice.provider).lower()))
        return tuple(targets)

    def keys(self, connections: Mapping[str, Connection]) -> tuple[Key, ...]:
        """The clients' keys, in the order of the file."""
        found: dict[str, Key] = {}
        for number, row in enumerate(self.data.get("keys", ())):
            where = ("keys", number)
            if self._known(row["id"], found, (*where, "id"), "key"):
                continue
            if not _HASH.fullmatch(row["hash"]):
                self._note((*where, "hash"), "FW062", "`hash` is not `sha256:` and 64 hexadecimal digits", MADE)
                continue
            allowed, combos = row.get("allowed_connections"), row.get("allowed_combos")
            limits = (("connection", allowed, connections), ("combo", combos, self.data.get("combos", {})))
            for what, listed, known in limits:
                for place, name in enumerate(listed or ()):
                    if name not in known:
                        message = f"key `{row['id']}`: unknown {what} `{name}`"
                        self._note((*where, f"allowed_{what}s", place), "FW063", message, _one_of(known, name))
            found[row["id"]] = Key(
                id=row["id"],
                digest=bytes.fromhex(row["hash"].removeprefix("sha256:")),
                scopes=frozenset(row.get("scopes", ("inference",))),
                allowed_connections=None if allowed is None else frozenset(allowed),
                allowed_combos=None if combos is None else frozenset(combos),
                rpm=row.get("rpm"),
                tpm=row.get("tpm"),
            )
        return tuple(found.values())

    def redact(self) -> tuple[Pattern, ...]:
        """What is taken out of the decision log besides what always is."""
        found = []
        for number, text in enumerate(self.data.get("log", {}).get("redact", ())):
            try:
                found.append(pattern(text))
            except ValueError as error:
                self._note(("log", "redact", number), "FW061", f"`{text}` is not a regular expression: {error}")
        return tuple(found)

    def _deadlines(self, row: Mapping[str, Any], base: Deadlines, where: tuple[str | int, ...]) -> Deadlines:
        changed = {}
        for name, raw in row.items():
            try:
                changed[name] = seconds(raw)
            except ValueError as error:
                self._note((*where, "deadlines", name), "FW061", f"`{name}`: {error}")
        return replace(base, **changed)

    def _share(self, raw: Any, where: tuple[str | int, ...]) -> float | None:
        try:
            return None if raw is None else portion(raw)
        except ValueError as error:
            self._note(where, "FW061", f"`quota_cutoff`: {error}")
            return None

    def _known(self, id: str, found: Mapping[str, Any], path: tuple[str | int, ...], what: str) -> bool:
        if id in found:
            self._note(path, "FW022", f"duplicate {what} `{id}`")
        return id in found

    def _note(self, path: tuple[str | int, ...], code: str, message: str, hint: str = "") -> None:
        line, column = self.document.at(path) if self.document is not None else (0, 0)
        file = self.document.file if self.document is not None else ""
        self.problems.append(Problem(file, line, column, code, message, hint))


def _one_of(names: Iterable[str], meant: str) -> str:
    known = sorted(names)
    if near := get_close_matches(meant, known, 1):
        return f"did you mean `{near[0]}`?"
    return f"known: {', '.join(known[:8])}{', …' if len(known) > 8 else ''}" if known else "there are none"
