"""`gateway.yaml`: what the operator set up. One frozen `Settings`, or every problem in the file with where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from faultwise.engine.policy.document import Document
from faultwise.engine.policy.schema import validate
from faultwise.engine.policy.yaml import read
from faultwise.engine.problem import PolicyError, Problem
from faultwise.engine.store.base import StoreError
from faultwise.engine.store.open import check_url

from .gateway import Combo, Connection, Deadlines, Emergency, Key
from .journal.redact import Pattern
from .layers import Value, layered
from .overlay import overlay
from .placeholders import names, replaced
from .rows import Reader

INERT = ("affinity",)


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
    reader = Reader(data, document, problems)
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
