"""The single values of the configuration: default < file < environment < command line, and which of them decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from faultwise.dsl import duration
from faultwise.engine.policy.document import Document
from faultwise.engine.problem import Problem

PREFIX = "FAULTWISE_"


@dataclass(frozen=True, slots=True)
class Value:
    """A setting's effective value and where it came from."""

    value: Any
    source: str  # default | FILE:LINE | environment NAME | command line


def seconds(raw: Any) -> float:
    """A duration as written (`90s`). Raises ValueError."""
    found = duration(raw) if isinstance(raw, str) else None
    if found is None or found <= 0:
        raise ValueError(f"`{raw}` is not a duration such as `90s`")
    return found


def size(raw: Any) -> int:
    """A size in bytes: a number, or one with KiB or MiB. Raises ValueError."""
    text = str(raw).strip()
    for unit, factor in (("KiB", 1024), ("MiB", 1024 * 1024)):
        if text.endswith(unit):
            text, scale = text.removesuffix(unit).strip(), factor
            break
    else:
        scale = 1
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError(f"`{raw}` is not a size such as `64MiB`")
    return int(text) * scale


def count(raw: Any) -> int:
    """A positive number. Raises ValueError."""
    text = str(raw).strip()
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError(f"`{raw}` is not a positive number")
    return int(text)


def address(raw: Any) -> str:
    """`host:port` as written, once it can be read. Raises ValueError."""
    host, colon, port = str(raw).rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError(f"`{raw}` is not an address such as `127.0.0.1:4290`")
    return str(raw)


# Every single value: how it is read and what it is where nobody says.
KNOWN: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "listen": (address, "127.0.0.1:4290"),
    "state": (str, "memory://"),
    "deadlines.connect": (seconds, 5.0),
    "deadlines.first_byte": (seconds, 60.0),
    "deadlines.first_content": (seconds, 60.0),
    "deadlines.idle": (seconds, 60.0),
    "deadlines.total": (seconds, 600.0),
    "limits.body": (size, 64 * 1024 * 1024),
    "limits.headers": (count, 128),
    "limits.drain": (seconds, 25.0),
}


def layered(
    data: Mapping[str, Any], document: Document | None, environ: Mapping[str, str], overrides: Mapping[str, str]
) -> tuple[dict[str, Value], list[Problem]]:
    """Every known setting by dotted name, and a problem for each that cannot be read."""
    found: dict[str, Value] = {}
    problems: list[Problem] = []
    for name, (parse, default) in KNOWN.items():
        raw, source, where = _raw(name, data, document, environ, overrides)
        if source == "default":
            found[name] = Value(default, source)
            continue
        try:
            found[name] = Value(parse(raw), source)
        except ValueError as error:
            found[name] = Value(default, "default")
            problems.append(Problem(*where, "FW061", f"`{name}`: {error}"))
    return found, problems


def variable(name: str) -> str:
    """The environment variable of a setting: `deadlines.total` is `FAULTWISE_DEADLINES__TOTAL`."""
    return PREFIX + name.upper().replace(".", "__")


def _raw(
    name: str,
    data: Mapping[str, Any],
    document: Document | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, str],
) -> tuple[Any, str, tuple[str, int, int]]:
    if name in overrides:
        return overrides[name], "command line", ("command line", 0, 0)
    if variable(name) in environ:
        return environ[variable(name)], f"environment {variable(name)}", (variable(name), 0, 0)
    path = tuple(name.split("."))
    value: Any = data
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    if value is None or document is None:
        return None, "default", ("", 0, 0)
    line, column = document.at(path)
    return value, f"{document.file}:{line}", (document.file, line, column)
