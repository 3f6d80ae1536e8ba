"""Which rules a verb works with: the shipped ones, those of the gateway file and the environment, and those named."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from faultwise.engine.policy.load import load
from faultwise.engine.policy.policy import Policy
from faultwise.engine.policy.source import SourceFile, Sources, collect
from faultwise.engine.policy.yaml import read

ENVIRONMENT = "FAULTWISE_RULES"
GATEWAY = "gateway.yaml"
ALIKE = 0.75  # of two names, from which on one may be meant for the other


@dataclass(frozen=True, slots=True)
class Named:
    """What the paths of a verb hold: rule files, over the shipped ones, and gateway files, which are no rules."""

    rules: Sources
    gateways: tuple[SourceFile, ...]


_PARSED: dict[bytes, Any] = {}


def source_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that name rules, the same for every verb."""
    parser.add_argument(
        "--rules", action="append", default=[], metavar="DIR", help="rules over the others; repeatable, later wins"
    )
    parser.add_argument("--no-shipped", action="store_true", help="leave out the rules of the shipped catalogue")


def sources(options: argparse.Namespace, paths: Iterable[str] = (), *, cases: bool = False) -> Sources:
    """One snapshot of the rule files. Paths given to a verb stand in for the gateway file's and the environment's.

    `cases`: with the catalogue's folder of cases. Raises PolicyError for a path that cannot be read.
    """
    return named(options, paths, cases=cases).rules


def named(options: argparse.Namespace, paths: Iterable[str] = (), *, cases: bool = False) -> Named:
    """The same, with the gateway files among the paths told apart; the directories these name count too."""
    given: list[str | Path] = list(paths) or ambient()
    found = collect([*given, *options.rules], shipped=not options.no_shipped, cases=cases)
    gateways = tuple(file for file in found.files if not file.shipped and is_gateway(file))
    if not gateways:
        return Named(_told_apart(found.files), ())
    inside = [path for file in gateways for path in rules_of(file)]
    found = collect([*inside, *given, *options.rules], shipped=not options.no_shipped, cases=cases)
    return Named(_told_apart(_once(file for file in found.files if file.shipped or not is_gateway(file))), gateways)


def policy(options: argparse.Namespace, paths: Iterable[str] = ()) -> Policy:
    """The policy of those files. Raises PolicyError."""
    return compiled(sources(options, paths))


def compiled(files: Sources) -> Policy:
    """The policy of some files. What one call has parsed, the next need not: two sides of a `diff` are nearly alike.

    Raises PolicyError.
    """
    return load(files, _PARSED)


def meant(provider: str, policy: Policy) -> str | None:
    """The provider with a rule file that may have been meant by one without; None where none is called nearly so."""
    name = provider.lower()
    near = get_close_matches(name, policy.providers, 1, ALIKE) if name not in policy.providers else []
    return near[0] if near else None


def ambient() -> list[str | Path]:
    """The rule directories nobody has to name: those of `gateway.yaml` here, then those of FAULTWISE_RULES."""
    beside = [path for file in here() for path in rules_of(file)]
    return [*beside, *(path for path in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if path)]


def here() -> tuple[SourceFile, ...]:
    """The gateway file nobody has to name, where there is one."""
    path = Path(GATEWAY)
    return (SourceFile(GATEWAY, path.read_bytes(), 1),) if path.is_file() else ()


def is_gateway(file: SourceFile) -> bool:
    """Whether a file sets up a gateway. One that cannot be read is taken for rules, which says what is wrong with it."""
    return b"gateway" in file.data and _data(file).get("kind") == "gateway"


def rules_of(file: SourceFile) -> list[Path]:
    """The rule directories a gateway file names, from where it lies; those behind placeholders are not known here."""
    written = _data(file).get("rules") or ()
    names = (written,) if isinstance(written, str) else written
    folder = Path(file.name).parent
    return [folder / name for name in names if isinstance(name, str) and "${" not in name]


def listens(file: SourceFile) -> str | None:
    """The address a gateway file says it listens on."""
    found = _data(file).get("listen")
    return found if isinstance(found, str) else None


def _data(file: SourceFile) -> Mapping[str, Any]:
    document, _ = read(file.data, file.name)
    return document.data if document is not None and isinstance(document.data, Mapping) else {}


def _told_apart(files: Iterable[SourceFile]) -> Sources:
    """The files, a shipped one under a longer name where one of the operator's is called the same from here."""
    files = tuple(files)
    own = {file.name for file in files if not file.shipped}
    return Sources(
        tuple(
            replace(file, name=f"faultwise/{file.name}") if file.shipped and file.name in own else file
            for file in files
        )
    )


def _once(files: Iterable[SourceFile]) -> Iterator[SourceFile]:
    """Each file where it stands last: a directory may be named by the gateway file and lie below a path."""
    kept: dict[str | Path, SourceFile] = {}
    for file in files:
        key = file.name if file.shipped else Path(file.name).resolve()
        kept.pop(key, None)
        kept[key] = file
    yield from kept.values()
