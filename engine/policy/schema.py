"""Holds a document against the JSON Schema of its kind, and says what does not fit: where, what, and what would.

Codes: FW010 an unknown key, FW011 a wrong type or value, FW012 a missing key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from faultwise.engine.problem import Problem

from .document import Document, Path
from .misfit import misfits
from .screen import Fits, is_date, screen

NAMES = ("policy", "provider", "rules", "clients", "cases", "gateway")


@cache
def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of file. Raises KeyError for a kind that does not exist. Read it, do not change it."""
    if name not in NAMES:
        raise KeyError(name)
    found: dict[str, Any] = json.loads((files("faultwise") / "schemas" / f"{name}.schema.json").read_text("utf-8"))
    return found


def validate(document: Document, kind: str, file: str) -> tuple[Problem, ...]:
    """Everything in a document that does not fit the schema of its kind, in the order of the file.

    In a gateway's file, text with a placeholder (`${NAME}`) fits everywhere: what it stands for is not known here.
    """
    if _screen(kind)(document.data):
        return ()
    found = [problem for error in _errors(document.data, kind) for problem in misfits(error, document, file)]
    return tuple(sorted(dict.fromkeys(found)))


def unfit(document: Document, kind: str) -> frozenset[Path]:
    """Where a document holds what cannot be worked with; a key that is not known may be passed over."""
    errors = _errors(document.data, kind)
    return frozenset(tuple(error.absolute_path) for error in errors if error.validator != "additionalProperties")


def _errors(data: Any, kind: str) -> Iterator[ValidationError]:
    for error in _validator(kind).iter_errors(_named(data)):
        if kind != "gateway" or not _placeholder(error.instance):
            yield error


def _placeholder(value: Any) -> bool:
    return isinstance(value, str) and "${" in value


@cache
def _screen(kind: str) -> Fits:
    return screen(schema(kind))


@cache
def _validator(kind: str) -> Draft202012Validator:
    formats = FormatChecker(())
    formats.checks("date")(lambda value: not isinstance(value, str) or is_date(value))
    return Draft202012Validator(schema(kind), format_checker=formats)


def _named(data: Any) -> Any:
    """The data with every key as text: JSON knows no others."""
    if isinstance(data, dict):
        return {str(key): _named(value) for key, value in data.items()}
    return [_named(value) for value in data] if isinstance(data, list) else data
