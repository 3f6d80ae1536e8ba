"""`gateway.yaml`: what the operator set up. One frozen `Settings`, or every problem in the file with where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from faultwise.engine.failure.record import WIRES
from faultwise.engine.policy.document import Document
from faultwise.engine.policy.schema import validate
from faultwise.engine.policy.yaml import read
from faultwise.engine.problem import PolicyError, Problem
from faultwise.engine.routing.strategies import STRATEGIES
from faultwise.engine.store.base import StoreError
from faultwise.engine.store.open import check_url

from .journal.redact import Pattern, pattern
from .layers import Value, layered, portion, seconds
from .overlay import overlay, own
from .placeholders import names, replaced
from .secret import Secret

INERT = ("affinity",)
EMERGENCIES = ("quota_exhausted", "credits_exhausted")  # reasons for the emergency fallback where none are declared
CREDENTIAL_PARTS = (b"auth", b"key", b"token", b"secret", b"cookie")  # of the names of headers that open something
HIDDEN = 8  # characters from which on a credential is one
_UNFIT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # what would end a header, or hide in it
MADE = "`faultwise new key NAME` makes a key and its row"
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds. `first_byte` counts from dispatch to the head of the answer, `first_content` from there."""

    connect: float = 5.0
    first_byte: float = 60.0
    first_content: float = 60.0
    idle: float = 60.0
    total: float = 600.0  # of a request, all its attempts together


@dataclass(frozen=True, slots=True)
class Connection:
    """One account at one address. None in `endpoints`: it has all of its wire's."""

    id: str
    provider: str
    base_url: str
    wire: str = "openai"
    secret: Secret | None = None
    auth: str | None = None
    endpoints: frozenset[str] | None = None
    models: tuple[str, ...] = ()
    headers: tuple[tuple[bytes, bytes], ...] = ()  # sent with each request
    egress: str | None = None
    weight: float = 1.0  # under `weighted`
    max_concurrent: int | None = None
    rpm: int | None = None  # requests a minute
    tpm: int | None = None  # tokens a minute
    quota_cutoff: float | None = None  # the share of a quota's window that is kept
    cooling: bool = True
    profile: Mapping[str, Any] = field(default_factory=dict, hash=False)  # thresholds of its own, waits in seconds
    deadlines: Deadlines = Deadlines()

    @property
    def hidden(self) -> tuple[str, ...]:
        """What must not be told to anybody: its credential, and headers that hold one.

        What is shorter than any key (`EMPTY`, `ollama`, `none`) is a stand-in, and a word that messages may need.
        """
        found = [self.secret.reveal()] if self.secret is not None else []
        found += [text.decode() for name, text in self.headers if any(part in name for part in CREDENTIAL_PARTS)]
        return tuple(text for text in found if len(text) >= HIDDEN)

    @property
    def host(self) -> str:
        """The host and port failures are told apart by."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class Choice:
    """A target as a combo names it: one connection, or any of a provider's."""

    model: str
    connection: str | None = None
    provider: str | None = None
    weight: float | None = None  # None: the connection's


@dataclass(frozen=True, slots=True)
class Combo:
    """Targets under one name, and the order in which they are tried."""

    id: str
    targets: tuple[Choice, ...]
    strategy: str = "priority"


@dataclass(frozen=True, slots=True)
class Emergency:
    """Who answers, shorter, where every target failed for one of these reasons."""

    targets: tuple[Choice, ...]
    reasons: frozenset[str]
    max_tokens: int  # of an answer


@dataclass(frozen=True, slots=True)
class Key:
    """A client's key, as its hash. None in a list of what it may use: everything."""

    id: str
    digest: bytes
    scopes: frozenset[str] = frozenset({"inference"})
    allowed_connections: frozenset[str] | None = None
    allowed_combos: frozenset[str] | None = None
    rpm: int | None = None  # requests a minute
    tpm: int | None = None  # tokens a minute


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the server was told. `values` are the single settings with where each came from."""

    connections: Mapping[str, Connection]
    combos: Mapping[str, Combo]
    keys: tuple[Key, ...]
    values: Mapping[str, Value]
    profiles: Mapping[str, Any] = field(default_factory=dict)  # thresholds over the policy's, by class of credential
    emergency: Emergency | None = None  # off
    rules: tuple[Path, ...] = ()
    redact: tuple[Pattern, ...] = ()  # taken out of the decision log, beside what always is
    shipped: bool = True
    file: Path | None = None
    files: tuple[Path, ...] = ()  # that placeholders name
    warnings: tuple[Problem, ...] = field(default=(), compare=False)

    def value(self, name: str) -> Any:
        """The effective value of a single setting."""
        return self.values[name].value

    @property
    def deadlines(self) -> Deadlines:
        """The deadlines where a connection sets none."""
        return Deadlines(*(self.value(f"deadlines.{name}") for name in Deadlines.__slots__))

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on."""
        host, _, port = self.value("listen").rpartition(":")
        return host.strip("[]"), int(port)


def settings(
    file: Path | None,
    *,
    environ: Mapping[str, str],
    overrides: Mapping[str, str] | None = None,
    rules: Sequence[Path] = (),
    shipped: bool = True,
) -> Settings:
    """Read a gateway file and lay environment and command line over it.

    `rules`: directories of the command line. Raises `PolicyError` with every problem found.
    """
    data, document, problems = _file(file, environ)
    values, found = layered(data, document, environ, overrides or {})
    problems += found
    profiles, found = overlay(data, document, environ, values)
    problems += found
    reader = _Reader(data, document, problems)
    base = Deadlines(*(values[f"deadlines.{name}"].value for name in Deadlines.__slots__))
    connections = reader.connections(base)
    made = Settings(
        connections=connections,
        combos=reader.combos(connections),
        keys=reader.keys(connections),
        emergency=reader.emergency(connections, values),
        values=values,
        profiles=profiles,
        rules=_rules(data, file, environ, rules),
        redact=reader.redact(),
        shipped=shipped,
        file=file,
        files=tuple((file.parent if file else Path()) / name for name in names(document.data)) if document else (),
    )
    _open_door(made, problems)
    _store(made, problems)
    problems += _inert(data, document)
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise PolicyError(problems)
    return replace(made, warnings=tuple(problems))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a listener on that host."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _file(file: Path | None, environ: Mapping[str, str]) -> tuple[Mapping[str, Any], Document | None, list[Problem]]:
    if file is None:
        return {}, None, []
    try:
        source = file.read_bytes()
    except OSError as error:
        raise PolicyError([Problem(str(file), 0, 0, "FW001", f"cannot be read: {error.strerror}")]) from None
    document, found = read(source, str(file))
    if document is None or found:
        raise PolicyError(found)
    if wrong := validate(document, "gateway", str(file)):
        raise PolicyError(wrong)
    data, problems = replaced(document, environ)
    return data, document, list(problems)


def _rules(
    data: Mapping[str, Any], file: Path | None, environ: Mapping[str, str], rules: Sequence[Path]
) -> tuple[Path, ...]:
    """Rule directories, later ones over earlier: the file's (from where it lies), the environment's, the command line's."""
    folder = file.parent if file is not None else Path()
    written = data.get("rules", ())
    named = [folder / path for path in ([written] if isinstance(written, str) else written)]
    ambient = [Path(path) for path in environ.get("FAULTWISE_RULES", "").split(":") if path]
    return (*named, *ambient, *rules)


def _open_door(made: Settings, problems: list[Problem]) -> None:
    host, _ = made.address
    if made.keys or is_loopback(host):
        return
    source = made.values["listen"].source
    message = f"listening on `{host}` without any `keys` would let everyone in"
    problems.append(Problem(source, 0, 0, "FW065", message, "add a key, or listen on 127.0.0.1"))


def _store(made: Settings, problems: list[Problem]) -> None:
    state, workers = made.values["state"], made.values["workers"]
    try:
        check_url(str(state.value), workers.value)
    except StoreError as error:
        problems.append(Problem(state.source, 0, 0, "FW069", str(error)))


def _inert(data: Mapping[str, Any], document: Document | None) -> Iterator[Problem]:
    """What may be written but is not acted on, so that nobody relies on it."""
    for name in INERT:
        if name in data and document is not None:
            line, column = document.at((name,), key=True)
            yield Problem(document.file, line, column, "FW066", f"`{name}` is not acted on", "", "warning")


@dataclass(slots=True)
class _Reader:
    """Builds the lists of the file and notes what is wrong with them."""

    data: Mapping[str, Any]
    document: Document | None
    problems: list[Problem]

    def connections(self, base: Deadlines) -> dict[str, Connection]:
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
