"""Paths into parsed JSON: `error.details[*].retryDelay`, `["odd.name"]`, `[0]`, `[-1]`, `[?@type=="…"]`.

A name steps into an object, a number into an array. `[*]` goes on with every element of an array, `[?name=="x"]` with
those that are objects whose `name` is exactly `x` (`'x'`, a number, `true` and `false` will do too); both make the
result a list. What is not there, and null, is None, or absent from the list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

LONGEST_PATH = 200  # characters
MOST_STEPS = 20

Step = Callable[[Any], Any]

_QUOTED = r'"(?:\\.|[^"\\])*"|\'[^\']*\''
_NAME = r"[^\s.\[\]\"'?*=]+"
_STEP = re.compile(
    rf"""(?P<name>(?:^|\.){_NAME})
    |\[(?:(?P<index>-?\d{{1,6}})
        |(?P<every>\*)
        |(?P<quoted>{_QUOTED})
        |\?\s*(?P<key>{_NAME}|{_QUOTED})\s*==\s*(?P<value>{_QUOTED}|-?\d{{1,15}}|true|false)\s*
    )\]""",
    re.VERBOSE,
)


def compile(path: str) -> Callable[[Any], Any]:
    """The function from parsed JSON to what `path` finds in it. Raises ValueError where the path is malformed."""
    if len(path) > LONGEST_PATH:
        raise ValueError(f"a path of {len(path)} characters, more than {LONGEST_PATH}")
    steps: list[tuple[bool, Step]] = []
    many, position = False, 0
    while position < len(path) or not steps:
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f"the path is malformed at `{path[position:]}`" if path else "the path is empty")
        kind, step = _step(match)
        steps.append((kind, step))
        many = many or kind
        position = match.end()
    if len(steps) > MOST_STEPS:
        raise ValueError(f"a path of {len(steps)} steps, more than {MOST_STEPS}")
    return _every(steps) if many else _single([step for _, step in steps])


def head(path: str) -> str | None:
    """The name that a path begins with, without which it finds nothing; None where it begins otherwise."""
    match = _STEP.match(path)
    if match is None or not (match["name"] or match["quoted"]):
        return None
    return match["name"].removeprefix(".") if match["name"] else _unquoted(match["quoted"])


def _step(match: re.Match[str]) -> tuple[bool, Step]:
    """Whether the step makes a list, and the step itself: value -> value, or value -> values."""
    if match["name"]:
        return False, _member(match["name"].removeprefix("."))
    if match["quoted"]:
        return False, _member(_unquoted(match["quoted"]))
    if match["index"]:
        return False, _element(int(match["index"]))
    if match["every"]:
        return True, lambda value: value if isinstance(value, list) else ()
    key = _unquoted(match["key"]) if match["key"][0] in "\"'" else match["key"]
    wanted = _unquoted(match["value"]) if match["value"][0] in "\"'" else json.loads(match["value"])
    return True, _where(key, wanted)


def _member(name: str) -> Step:
    return lambda value: value.get(name) if isinstance(value, dict) else None


def _element(index: int) -> Step:
    def element(value: Any) -> Any:
        if isinstance(value, list) and -len(value) <= index < len(value):
            return value[index]
        return None

    return element


def _where(key: str, wanted: Any) -> Step:
    def where(value: Any) -> Any:
        if not isinstance(value, list):
            return ()
        return [item for item in value if isinstance(item, dict) and _same(item.get(key), wanted)]

    return where


def _same(value: Any, wanted: Any) -> bool:
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _single(steps: list[Step]) -> Callable[[Any], Any]:
    if len(steps) == 1:
        return steps[0]

    def single(value: Any) -> Any:
        for step in steps:
            value = step(value)
            if value is None:
                return None
        return value

    return single


def _every(steps: list[tuple[bool, Step]]) -> Callable[[Any], Any]:
    def every(value: Any) -> list[Any]:
        values = [value]
        for many, step in steps:
            if many:
                values = [found for value in values for found in step(value) if found is not None]
            else:
                values = [found for found in map(step, values) if found is not None]
        return values

    return every


def _unquoted(text: str) -> str:
    if text[0] == "'":
        return text[1:-1]
    try:
        return str(json.loads(text))
    except ValueError:
        raise ValueError(f"the path has a bad escape in {text}") from None
