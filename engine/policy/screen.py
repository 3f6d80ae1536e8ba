"""A quick yes or no to whether data fits a JSON Schema, so that only what does not fit is looked at in detail.

Knows the keywords that the schemas of rule files use and refuses any other, so that nothing is passed over in silence.
A key that is a whole number counts as its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, TypeAlias

Fits: TypeAlias = Callable[[Any], bool]

_ANNOTATIONS = frozenset(("$schema", "$id", "$defs", "title", "description", "default", "examples"))
_OBJECT = frozenset(("properties", "patternProperties", "additionalProperties"))
_TYPES: Mapping[str, Fits] = {
    "object": lambda value: type(value) is dict,
    "array": lambda value: type(value) is list,
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int or type(value) is float and value.is_integer(),
    "number": lambda value: type(value) is int or type(value) is float,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
}


def screen(schema: Mapping[str, Any]) -> Fits:
    """A function that tells whether data fits the schema. Raises ValueError naming a keyword it does not know."""
    return _Screen(schema).compile(schema)


class _Screen:
    """Compiles a schema to closures, each definition once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._definitions: Mapping[str, Any] = root.get("$defs", {})
        self._compiled: dict[str, Fits] = {}

    def compile(self, schema: Any) -> Fits:
        if isinstance(schema, bool):
            return lambda value: schema
        tests: list[Fits] = []
        if not _OBJECT.isdisjoint(schema):
            tests.append(self._object(schema))
        for keyword, argument in schema.items():
            if keyword not in _ANNOTATIONS and keyword not in _OBJECT:
                made = _KEYWORDS.get(keyword)
                if made is None:
                    raise ValueError(f"unknown keyword `{keyword}`")
                tests.insert(0 if keyword == "type" else len(tests), made(self, argument))
        return _every(tests)

    def reference(self, pointer: str) -> Fits:
        name = pointer.removeprefix("#/$defs/")
        if name not in self._compiled:
            # a definition that speaks of itself finds this while it is being compiled
            self._compiled[name] = lambda value: self._compiled[name](value)
            self._compiled[name] = self.compile(self._definitions[name])
        return self._compiled[name]

    def _object(self, schema: Mapping[str, Any]) -> Fits:
        named = {name: self.compile(one) for name, one in schema.get("properties", {}).items()}
        patterned = [(re.compile(text), self.compile(one)) for text, one in schema.get("patternProperties", {}).items()]
        others = self.compile(schema.get("additionalProperties", True))

        def test(value: Any) -> bool:
            if type(value) is not dict:
                return True
            for key, item in value.items():
                fits = named.get(key)
                if fits is None:
                    if not unnamed(str(key), item):
                        return False
                elif not fits(item):
                    return False
            return True

        def unnamed(key: str, item: Any) -> bool:
            found = [fits for pattern, fits in patterned if pattern.search(key)]
            return all(fits(item) for fits in found) if found else others(item)

        return test


def _every(tests: list[Fits]) -> Fits:
    if not tests:
        return lambda value: True
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:
        first, second = tests
        return lambda value: first(value) and second(value)
    return lambda value: all(test(value) for test in tests)


def _type(_: _Screen, names: str | list[str]) -> Fits:
    if isinstance(names, str):
        return _TYPES[names]
    tests = [_TYPES[name] for name in names]
    return lambda value: any(test(value) for test in tests)


def _enum(_: _Screen, options: list[Any]) -> Fits:
    if not all(type(option) in (str, int) for option in options):
        raise ValueError("only text and whole numbers can be listed under `enum` and `const`")
    known = frozenset(options)
    return lambda value: type(value) in (str, int, float) and value in known


def _required(_: _Screen, names: list[str]) -> Fits:
    return lambda value: type(value) is not dict or all(name in value for name in names)


def _items(compiler: _Screen, schema: Any) -> Fits:
    fits = compiler.compile(schema)
    return lambda value: type(value) is not list or all(map(fits, value))


def _any_of(compiler: _Screen, schemas: list[Any]) -> Fits:
    tests = [compiler.compile(schema) for schema in schemas]
    return lambda value: any(test(value) for test in tests)


def _not(compiler: _Screen, schema: Any) -> Fits:
    fits = compiler.compile(schema)
    return lambda value: not fits(value)


def _property_names(compiler: _Screen, schema: Any) -> Fits:
    fits = compiler.compile(schema)
    return lambda value: type(value) is not dict or all(fits(str(key)) for key in value)


def _pattern(_: _Screen, pattern: str) -> Fits:
    found = re.compile(pattern).search
    return lambda value: type(value) is not str or found(value) is not None


def _format(_: _Screen, name: str) -> Fits:
    if name != "date":
        raise ValueError(f"unknown format `{name}`")
    return lambda value: type(value) is not str or is_date(value)


def is_date(text: str) -> bool:
    """Whether a text is a day such as `2026-01-31`."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _numbers(test: Callable[[Any, Any], bool]) -> Callable[[_Screen, Any], Fits]:
    def made(_: _Screen, bound: float) -> Fits:
        return lambda value: type(value) not in (int, float) or test(value, bound)

    return made


def _sizes(
    kind: type[str | list[Any] | dict[str, Any]], test: Callable[[int, int], bool]
) -> Callable[[_Screen, Any], Fits]:
    def made(_: _Screen, bound: int) -> Fits:
        def fits(value: Any) -> bool:
            return type(value) is not kind or test(len(value), bound)

        return fits

    return made


_KEYWORDS: Mapping[str, Callable[[_Screen, Any], Fits]] = {
    "$ref": _Screen.reference,
    "type": _type,
    "enum": _enum,
    "const": lambda compiler, value: _enum(compiler, [value]),
    "required": _required,
    "items": _items,
    "anyOf": _any_of,
    "not": _not,
    "propertyNames": _property_names,
    "pattern": _pattern,
    "format": _format,
    "minimum": _numbers(lambda value, bound: value >= bound),
    "maximum": _numbers(lambda value, bound: value <= bound),
    "minLength": _sizes(str, lambda size, bound: size >= bound),
    "maxLength": _sizes(str, lambda size, bound: size <= bound),
    "minItems": _sizes(list, lambda size, bound: size >= bound),
    "maxItems": _sizes(list, lambda size, bound: size <= bound),
    "minProperties": _sizes(dict, lambda size, bound: size >= bound),
}
