"""Cases that say several failures at once: one for each text of `each`, and one for each of several statuses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from faultwise.engine.problem import Problem

from .document import Path
from .parsed import Entry

PLACE = "$each"  # what a text takes the place of
ALONE = {"error": {"message": PLACE}}  # the body of a case that has none
APART = ("name", "each", "expect")  # the keys of a case in which no text is put
SHOWN = 60  # characters of a text in a name
NONE: list[tuple[Path, Any]] = [((), None)]


def single(case: Entry) -> Iterator[Entry]:
    """The cases of one failure that a case stands for, named `case [text]` and found where the text is written."""
    texts = _numbered(case.data, "each")
    statuses = _numbered(case.data, "status")
    if not texts and not statuses:
        yield case
        return
    for place, text in texts or NONE:
        filled = _filled(case.data, text) if place else case.data
        for beside, status in statuses or NONE:
            data = {key: value for key, value in filled.items() if key != "each"}
            said = [_shown(text)] if place else []
            if beside:
                data["status"] = status
                said.insert(0, str(status))
            data["name"] = f"{data['name']} [{', '.join(said)}]"
            yield Entry(data, case.parsed, (*case.path, *(place or beside)))


def _numbered(data: Mapping[str, Any], key: str) -> list[tuple[Path, Any]]:
    """The items of a list, with where they are written; none where a single value stands."""
    written = data.get(key)
    return [((key, number), item) for number, item in enumerate(written)] if isinstance(written, list) else []


def idle(case: Entry) -> Iterator[Problem]:
    """A case whose texts stand nowhere says the same thing over and over."""
    data = case.data
    if "each" in data and ("body" in data or "body_base64" in data) and not _has_place(data):
        hint = f"write `{PLACE}` where a text is to stand; without a body, it is the message of an error"
        yield case.problem(("each",), "FW011", f"no value of the case says `{PLACE}`", hint)


def _filled(data: Any, text: Any) -> dict[str, Any]:
    if "body" not in data and "body_base64" not in data and not _has_place(data):
        data = {**data, "body": ALONE}
    return {key: value if key in APART else _put(value, text) for key, value in data.items()}


def _put(value: Any, text: Any) -> Any:
    """A value with the text wherever it says PLACE: alone it becomes the text, within others the text is written."""
    if isinstance(value, dict):
        return {key: _put(held, text) for key, held in value.items()}
    if isinstance(value, list):
        return [_put(held, text) for held in value]
    if not isinstance(value, str):
        return value
    return text if value == PLACE else value.replace(PLACE, _written(text))


def _has_place(data: Any) -> bool:
    return any(PLACE in _written(value) for key, value in data.items() if key not in APART)


def _written(text: Any) -> str:
    return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)


def _shown(text: Any) -> str:
    line = " ".join(_written(text).split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
