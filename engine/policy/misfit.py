"""What a schema validator complains about, in the words of a file's author, at the line and column that is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import groupby
from typing import Any

from jsonschema.exceptions import ValidationError

from faultwise.engine.problem import Problem

from .document import Document, Path

_SHOWN = 60  # characters of a value
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}
_BOOLEANS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def misfits(error: ValidationError, document: Document, file: str) -> Iterator[Problem]:
    """The problems behind one error of the validator."""
    return _Misfit(document, file).problems(error)


class _Misfit:
    """Words errors about one document; one method for each keyword, or family of keywords, of a schema."""

    def __init__(self, document: Document, file: str) -> None:
        self._document = document
        self._file = file

    def problems(self, error: ValidationError) -> Iterator[Problem]:
        return _WORDED.get(str(error.validator), _Misfit.value)(self, error)

    def unknown_keys(self, error: ValidationError) -> Iterator[Problem]:
        allowed = _schema(error).get("properties", {})
        written: Any = error.instance
        free = ", ".join(name for name in allowed if name not in written)
        for key in _unknown(error):
            near = get_close_matches(key, allowed, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"the keys left here are {free}" if free else ""
            yield self.problem(error, "FW010", f"unknown key `{_clip(key)}`", hint, key)

    def missing_keys(self, error: ValidationError) -> Iterator[Problem]:
        needed: Any = error.validator_value
        written: Any = error.instance
        unknown = _unknown(error)
        for name in needed:
            # a misspelt key is reported once, as an unknown one
            if name not in written and not get_close_matches(name, unknown, 1):
                meaning = str(_schema(error).get("properties", {}).get(name, {}).get("description", ""))
                yield self.problem(error, "FW012", f"missing key `{name}`", _sentence(meaning))

    def exclusive_keys(self, error: ValidationError) -> Iterator[Problem]:
        excluded: Any = error.validator_value
        first, second = excluded["required"]
        yield self.problem(error, "FW011", f"`{first}` and `{second}` exclude each other", "keep one of them", second)

    def type(self, error: ValidationError) -> Iterator[Problem]:
        yield self.mistyped(error, [error])

    def alternatives(self, error: ValidationError) -> Iterator[Problem]:
        branches = _branches(error)
        fitting = [branch for branch in branches if not _mistyped(branch)]
        if not fitting:
            yield self.mistyped(error, [one for branch in branches for one in _mistyped(branch)])
        elif "examples" in _schema(error) and not isinstance(error.instance, (dict, list)):
            yield from self.value(error)
        else:
            for inner in min(fitting, key=len):
                yield from self.problems(inner)

    def options(self, error: ValidationError) -> Iterator[Problem]:
        options: Any = error.validator_value
        listed = ", ".join(options)
        if not isinstance(error.instance, str):
            yield self.problem(error, "FW011", f"expected one of {listed}, found {_found(error.instance)}")
            return
        near = get_close_matches(error.instance, options, 1)
        hint = f"did you mean `{near[0]}`?" if near else ""
        yield self.problem(error, "FW011", f"{_shown(error.instance)} is none of {listed}", hint)

    def constant(self, error: ValidationError) -> Iterator[Problem]:
        yield self.problem(error, "FW011", f"expected `{error.validator_value}`, found {_found(error.instance)}")

    def bounds(self, error: ValidationError) -> Iterator[Problem]:
        low, high = _schema(error).get("minimum"), _schema(error).get("maximum")
        if low is None or high is None:
            words = f"less than {low}" if high is None else f"more than {high}"
        else:
            words = f"not within {low} to {high}"
        yield self.problem(error, "FW011", f"{_shown(error.instance)} is {words}")

    def empty(self, error: ValidationError) -> Iterator[Problem]:
        yield self.problem(error, "FW011", "must not be empty")

    def long(self, error: ValidationError) -> Iterator[Problem]:
        length: Any = error.instance
        unit = "characters" if isinstance(length, str) else "items"
        yield self.problem(error, "FW011", f"{len(length)} {unit}, at most {error.validator_value} are allowed")

    def value(self, error: ValidationError) -> Iterator[Problem]:
        """A value of the right type that means nothing: the schema's title and examples say what would."""
        title = str(_schema(error).get("title", "valid value"))
        name = title[:1].lower() + title[1:]
        article = "an" if name[:1] in "aeiou" else "a"
        yield self.problem(
            error, "FW011", f"{_shown(error.instance)} is not {article} {name}", _examples(_schema(error))
        )

    def mistyped(self, error: ValidationError, mistakes: list[ValidationError]) -> Problem:
        names = list(dict.fromkeys(name for mistake in mistakes for name in _expected(mistake)))
        wanted = [_TYPES[name] for name in names if name != "integer" or "number" not in names]
        expected = " or ".join(filter(None, (", ".join(wanted[:-1]), wanted[-1])))
        remedy = _remedy(names, error.instance, [_schema(mistake) for mistake in mistakes])
        return self.problem(error, "FW011", f"expected {expected}, found {_found(error.instance)}", remedy)

    def problem(
        self, error: ValidationError, code: str, message: str, hint: str = "", key: str | None = None
    ) -> Problem:
        path: Path = tuple(map(_step, error.absolute_path))
        if key is None and "propertyNames" in error.absolute_schema_path:
            key = str(error.instance)
        where = self._document.at(path) if key is None else self._document.at((*path, key), key=True)
        return Problem(self._file, *where, code, message, hint)


_WORDED: Mapping[str, Callable[[_Misfit, ValidationError], Iterator[Problem]]] = {
    "additionalProperties": _Misfit.unknown_keys,
    "required": _Misfit.missing_keys,
    "not": _Misfit.exclusive_keys,
    "type": _Misfit.type,
    "anyOf": _Misfit.alternatives,
    "enum": _Misfit.options,
    "const": _Misfit.constant,
    "minimum": _Misfit.bounds,
    "maximum": _Misfit.bounds,
    "minLength": _Misfit.empty,
    "minItems": _Misfit.empty,
    "minProperties": _Misfit.empty,
    "maxLength": _Misfit.long,
    "maxItems": _Misfit.long,
}


def _schema(error: ValidationError) -> Mapping[str, Any]:
    """The schema that was not met."""
    found: Any = error.schema
    return found if isinstance(found, Mapping) else {}


def _step(part: Any) -> str | int:
    return part if isinstance(part, int) else str(part)


def _unknown(error: ValidationError) -> list[str]:
    """The keys of a mapping that its schema does not name. (No schema here closes a mapping that has key patterns.)"""
    written: Any = error.instance
    return [key for key in written if key not in _schema(error).get("properties", {})]


def _branches(error: ValidationError) -> list[list[ValidationError]]:
    """The errors of each alternative."""

    def number(one: ValidationError) -> int:
        step: Any = one.relative_schema_path[0]
        return int(step)

    return [list(group) for _, group in groupby(sorted(error.context or (), key=number), key=number)]


def _mistyped(branch: Iterable[ValidationError]) -> list[ValidationError]:
    """The errors by which an alternative is for values of another type; none where the value's type is right."""
    for error in branch:
        if error.relative_path:
            continue
        if error.validator == "type" or error.validator == "enum" and not isinstance(error.instance, str):
            return [error]
        inner = [_mistyped(one) for one in _branches(error)]
        if inner and all(inner):
            return [mistake for mistakes in inner for mistake in mistakes]
    return []


def _expected(mistake: ValidationError) -> list[str]:
    names: Any = mistake.validator_value if mistake.validator == "type" else "string"
    return [names] if isinstance(names, str) else list(names)


def _remedy(expected: list[str], value: Any, schemas: list[Mapping[str, Any]]) -> str:
    """How to turn the value into what was expected, where that is plain."""
    if "boolean" in expected and isinstance(value, str) and value in _BOOLEANS:
        return f"write `{_BOOLEANS[value]}`"
    if "string" in expected and isinstance(value, (int, float)):
        examples = [_examples(schema) for schema in schemas if not re.search(schema.get("pattern", "^$"), str(value))]
        return next(filter(None, examples), "put it in quotes")
    if value is None and "string" not in expected:
        return "leave the key out, or give it a value"
    if expected == ["array"] and not isinstance(value, dict):
        return "put it in brackets"
    return ""


def _examples(schema: Mapping[str, Any]) -> str:
    examples = ", ".join(f"`{example}`" for example in schema.get("examples", ()))
    return f"write it like {examples}" if examples else ""


def _sentence(text: str) -> str:
    """The first sentence, as a help line: no capital, no full stop."""
    first = text.partition(". ")[0].rstrip(".")
    return first[:1].lower() + first[1:]


def _found(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {_shown(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"the number {value}"
    return _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    return f"`{_clip(str(value).lower() if isinstance(value, bool) else str(value))}`"


def _clip(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
