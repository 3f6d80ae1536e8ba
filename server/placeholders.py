"""`${NAME}` and `${file:/path}` in a configuration file, replaced by what they stand for.

A problem names the variable or the file that is missing, never a value. `$${` writes a literal `${`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faultwise.engine.policy.document import Document
from faultwise.engine.problem import Problem

_PLACEHOLDER = re.compile(r"\$?\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
FILE_LIMIT = 64 * 1024  # bytes of a file a placeholder names


def replaced(document: Document, environ: Mapping[str, str]) -> tuple[Any, tuple[Problem, ...]]:
    """The document's data with every placeholder replaced, and a problem for each that cannot be."""
    problems: list[Problem] = []
    return _replaced(document.data, (), document, environ, problems), tuple(problems)


def _replaced(
    value: Any, path: tuple[str | int, ...], document: Document, environ: Mapping[str, str], problems: list[Problem]
) -> Any:
    # no closure that calls itself: such a cycle would outlive each reload, of which the collector sees nothing
    if isinstance(value, dict):
        return {key: _replaced(one, (*path, str(key)), document, environ, problems) for key, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one, (*path, number), document, environ, problems) for number, one in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value
    parts, at = [], 0
    for found in _PLACEHOLDER.finditer(value):
        parts.append(value[at : found.start()])
        at = found.end()
        if found[0].startswith("$$"):
            parts.append(found[0][1:])
            continue
        try:
            parts.append(_meaning(found[1], Path(document.file).parent, environ))
        except LookupError as error:
            line, column = document.locate(path, found.start())
            problems.append(Problem(document.file, line, column, "FW060", str(error.args[0]), error.args[1]))
    return "".join((*parts, value[at:]))


def names(value: Any) -> Iterator[str]:
    """The files that placeholders in a configuration name, so that changes to them can be followed."""
    if isinstance(value, dict):
        for one in value.values():
            yield from names(one)
    elif isinstance(value, list):
        for one in value:
            yield from names(one)
    elif isinstance(value, str):
        yield from (found[1][5:] for found in _PLACEHOLDER.finditer(value) if found[1].startswith("file:"))


def _meaning(name: str, folder: Path, environ: Mapping[str, str]) -> str:
    if name.startswith("file:"):
        return _content(folder / name[5:], name)
    if not _NAME.fullmatch(name):
        raise LookupError(f"`${{{name}}}` names no variable", "write `${NAME}` or `${file:/path}`")
    if name not in environ:
        raise LookupError(
            f"the variable `{name}` is not set", f"set {name} in the environment, or use `${{file:/path}}`"
        )
    return environ[name]


def _content(path: Path, name: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_LIMIT + 1)
        if len(data) > FILE_LIMIT:
            raise LookupError(f"the file of `${{{name}}}` is larger than {FILE_LIMIT // 1024} KiB", "")
        return data.decode().strip()
    except UnicodeDecodeError:
        raise LookupError(f"the file of `${{{name}}}` is not UTF-8 text", "") from None
    except OSError as error:
        raise LookupError(f"the file of `${{{name}}}` cannot be read: {error.strerror}", "") from None
