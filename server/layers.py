"""The single values of the configuration: default < file < environment < command line, and which of them decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from faultwise.dsl import duration
from faultwise.engine.policy.document import Document
from faultwise.engine.problem import Problem

from .journal.file import FSYNC

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


def share(raw: Any) -> float:
    """A number from 0 to 1. Raises ValueError."""
    return _number(raw, 0.0, 1.0)


def portion(raw: Any) -> float:
    """A share above 0 and below 1, as a number or per cent (`5%`). Raises ValueError."""
    text = str(raw).strip()
    try:
        found = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        found = 0.0
    if not 0.0 < found < 1.0:
        raise ValueError(f"`{raw}` is not a share such as `5%`")
    return found


def rate(raw: Any) -> float:
    """A number from 0 to 100,000. Raises ValueError."""
    return _number(raw, 0.0, 100_000.0)


def up_to(most: float) -> Callable[[Any], float]:
    """A duration that is at most so many seconds."""

    def read(raw: Any) -> float:
        found = seconds(raw)
        if found > most:
            raise ValueError(f"`{raw}` is more than {most:g} s")
        return found

    return read


def between(least: float, most: float) -> Callable[[Any], float]:
    """A duration of so many seconds at least and at most."""

    def read(raw: Any) -> float:
        found = duration(raw) if isinstance(raw, str) else -1.0
        if not least <= found <= most:
            raise ValueError(f"`{raw}` is not a duration from {least:g} s to {most:g} s")
        return found

    return read


def depth(raw: Any) -> int:
    """A whole number from 0 to 100,000. Raises ValueError."""
    return int(_number(raw if str(raw) == "0" else count(raw), 0, 100_000))


def pace(raw: Any) -> float:
    """Bytes a second, from 1 to 1,000,000. Raises ValueError."""
    return _number(raw, 1.0, 1_000_000.0)


def tries(raw: Any) -> int:
    """A number from 1 to 10. Raises ValueError."""
    return int(_number(count(raw), 1, 10))


def _number(raw: Any, least: float, most: float) -> float:
    try:
        found = float(raw)
    except (TypeError, ValueError):
        found = -1.0
    if not least <= found <= most:
        raise ValueError(f"`{raw}` is not a number from {least:g} to {most:g}")
    return found


def address(raw: Any) -> str:
    """`host:port` as written, once it can be read. Raises ValueError."""
    host, colon, port = str(raw).rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError(f"`{raw}` is not an address such as `127.0.0.1:4290`")
    return str(raw)


def flag(raw: Any) -> bool:
    """Yes or no, as YAML or the environment says it. Raises ValueError."""
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower()
    if word not in ("true", "false"):
        raise ValueError(f"`{raw}` is neither `true` nor `false`")
    return word == "true"


def fsync(raw: Any) -> str:
    """When the decision log is forced to disk. Raises ValueError."""
    if raw not in FSYNC:
        raise ValueError(f"`{raw}` is none of {', '.join(FSYNC)}")
    return str(raw)


# Every single value: how it is read and what it is where nobody says.
KNOWN: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "listen": (address, "127.0.0.1:4290"),
    "state": (str, "sqlite:///faultwise.db"),
    "workers": (count, 1),
    "deadlines.connect": (seconds, 5.0),
    "deadlines.first_byte": (seconds, 60.0),
    "deadlines.first_content": (seconds, 60.0),
    "deadlines.idle": (seconds, 60.0),
    "deadlines.total": (seconds, 600.0),
    "limits.body": (size, 64 * 1024 * 1024),
    "limits.headers": (count, 128),
    "limits.header_bytes": (size, 32 * 1024),
    "limits.drain": (seconds, 25.0),
    "limits.heartbeat": (between(0, 600), 10.0),
    "limits.unread": (seconds, 60.0),
    "breaker.enabled": (flag, True),
    "gate.enabled": (flag, False),
    "wait.enabled": (flag, True),
    "wait.max_wait": (up_to(300), 90.0),
    "wait.max_attempts": (tries, 5),
    "wait.budget": (up_to(300), 300.0),
    "budget.ratio": (share, 0.2),
    "budget.window": (up_to(600), 10.0),
    "budget.floor": (rate, 10.0),
    "queue.max_queue_depth": (depth, 0),
    "queue.max_wait": (between(0.001, 86_400), 30.0),
    "queue.slot_wait": (between(0.001, 86_400), 5.0),
    "queue.execution_max_wait": (between(0.001, 86_400), 600.0),
    "slots.enabled": (flag, True),
    "emergency.enabled": (flag, False),
    "emergency.max_tokens": (count, 4096),
    "watchdog.enabled": (flag, False),
    "watchdog.warm_up": (between(0, 600), 30.0),
    "watchdog.window": (between(1, 600), 30.0),
    "watchdog.bytes_per_second": (pace, 4.0),
    "watchdog.min_bytes": (count, 1),
    "log.file": (str, None),
    "log.max_size": (size, 64 * 1024 * 1024),
    "log.max_age": (seconds, 86_400.0),
    "log.keep": (count, 10),
    "log.fsync": (fsync, "rotate"),
    "log.queue": (count, 1000),
    "log.bodies": (flag, True),
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
