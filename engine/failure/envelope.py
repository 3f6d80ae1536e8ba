"""How errors are written, as data: where they stand in JSON, what their keys say, what makes a 200 a failure.

The `envelopes` section of a policy is compiled once into `Envelopes`. `fails` and `finish` judge a document that came
with a 200, `read` takes an error apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import re2

from .account import CODE, MESSAGE, STATUS, TYPE, WITHIN, WRAPPED, Account, Role, take_apart
from .answer import has_content
from .echo import Echo
from .plain import plain
from .shape import Ending, Shape, compile_alarm, compile_finish, compile_shapes, compile_words, substantive
from .unwrap import Unwrapper

HEADER_ROLES = ("code", "type")
CLASSES = ("Error", "Exception")  # how the name of a class of errors ends
MOST_ITEMS = 64  # of a document that is a list

Roles = Mapping[str, int]  # key -> what it says, the flags of `Role`


@dataclass(frozen=True, slots=True)
class Envelopes:
    """The compiled section. Immutable; shared by every reading under one policy."""

    roles: Roles
    headers: Mapping[str, str]
    silent: frozenset[str]  # codes and types that say nothing, or that all is well
    fine: frozenset[str]
    answers: frozenset[str]
    outcomes: frozenset[str]
    shapes: Mapping[str, tuple[Shape, ...]]
    finishes: Mapping[str, tuple[Shape, ...]]
    error_events: frozenset[str]
    statuses: Mapping[str, int]
    unwrapper: Unwrapper
    _bare_type: Any
    _leading_type: Any
    _alarm: Any

    def fails(self, document: Any, spoken: bool = False) -> bool:
        """Whether a document, or an event, that came with a 200 is an error all the same. `spoken`: content came before."""
        return any(self._fails(item, spoken) for item in _objects(document))

    def finish(self, document: Any, spoken: bool = False) -> Ending | None:
        """How an answer, or an event, says that it ended badly; None where it does not. `spoken`: content came before."""
        for item in _objects(document):
            for key in item:
                for shape in self.finishes.get(key, ()):
                    word = shape.word(item)
                    if word is not None and not (shape.empty and (spoken or has_content(document))):
                        return Ending(word, shape.status)
        return None

    def suspicious(self, body: bytes) -> bool:
        """Whether a 200's decoded body could be a failure: cheap, False for nearly every healthy answer, and never
        False where `fails` or `finish` would say otherwise."""
        return self._alarm.search(body) is not None

    def asks(self, key: str) -> bool:
        """Whether a declared shape of a failure looks at what stands under a key."""
        declared = chain(*self.shapes.values(), *self.finishes.values())
        return any(key == shape.path[-1] for shape in declared)

    def read(self, document: Any, text: str = "", echo: Echo | None = None) -> Account:
        """What an error says: a parsed document, or a text where `document` is `literal.MISSING`.

        An object inside a message that `echo` knows from the request is not taken for an error.
        """
        found = plain(self, document) if isinstance(document, dict) else None
        return found or take_apart(self, document, text, echo)

    def inner_status(self, account: Account, echo: Echo | None = None) -> int | None:
        """The status named by the innermost layer that names one, by itself or in the words around it.

        What a message repeats of the request, as `echo` knows it, names none.
        """
        for depth in range(len(account.layers) - 1, -1, -1):
            layer = account.layers[depth]
            for words in layer.messages:  # what a server says of the one behind it
                status = self.unwrapper.status(words, echo)
                if status is not None:
                    return status
            if depth and layer.status is not None:
                return layer.status
            for words in layer.leads:
                status = self.unwrapper.status(words)
                if status is not None:
                    return status
        return None

    def mapped(self, words: Iterable[str]) -> int | None:
        """The status that the first of these codes or types stands for."""
        for word in words:
            status = self.statuses.get(squashed(word))
            if status is not None:
                return status
        return None

    def bare(self, word: str) -> str:
        """A type without its name space and its address."""
        if not ("#" in word or ":" in word or word.endswith(CLASSES)):
            return word
        found = self._bare_type.match(word)
        return (next(filter(None, found.groups()), None) or word) if found else word

    def leading_type(self, text: str) -> str | None:
        """The type or code that a message begins with: `ThrottlingException: …`, `insufficient_quota: …`."""
        found = self._leading_type.match(text) if ": " in text[:96] or text[:1] == "[" else None
        return next(filter(None, found.groups()), None) if found else None

    def _fails(self, document: dict[str, Any], spoken: bool) -> bool:
        for key in document:
            for shape in self.shapes.get(key, ()):
                if spoken and not shape.after_content:
                    continue
                if shape.holds(document) and self._applies(shape, document):
                    return True
        return self.unwrapper.content(document) is not None

    def _applies(self, shape: Shape, document: dict[str, Any]) -> bool:
        if shape.unless_answer and any(substantive(document[key]) for key in self.answers.intersection(document)):
            return False
        if shape.unless_item and _has_whole_item(document[shape.path[0]], shape.path[-1]):
            return False
        if shape.unless_fine and any(self._is_fine(document[key]) for key in self.outcomes.intersection(document)):
            return False
        return not shape.beside_text or any(
            isinstance(value, str) and value.strip() and self.roles.get(key, 0) & MESSAGE
            for key, value in document.items()
        )

    def _is_fine(self, value: Any) -> bool:
        """Whether a value says that all went well: true, or a word (no number) for it."""
        return value is True or isinstance(value, str) and value.isalpha() and value.lower() in self.fine


def _has_whole_item(items: Any, key: str) -> bool:
    """Whether a list has an item that lacks a key, or holds content all the same."""
    return isinstance(items, list) and any(
        isinstance(item, dict) and (not substantive(item.get(key)) or has_content(item)) for item in items[:MOST_ITEMS]
    )


def _objects(document: Any) -> Iterable[dict[str, Any]]:
    if isinstance(document, dict):
        return (document,)
    return (item for item in document[:MOST_ITEMS] if isinstance(item, dict)) if isinstance(document, list) else ()


def strength(roles: Roles, document: Any) -> int:
    """How surely an object is an account of an error: 0 it is not, 1 it only has words, 2 it is."""
    if isinstance(document, list):
        return max((strength(roles, item) for item in document[:4] if isinstance(item, dict)), default=0)
    if not isinstance(document, dict):
        return 0
    words = named = False
    for key, value in document.items():
        known = roles.get(key)
        if known is None or not substantive(value):
            continue
        if known & WITHIN and key.lower() in ("error", "errors"):
            return 2
        words = words or bool(known & (MESSAGE | WRAPPED))
        named = named or bool(known & (CODE | TYPE | STATUS))
    return (2 if named else 1) if words else 0


_JOINTS = str.maketrans("", "", "_-. ")


def squashed(word: str) -> str:
    """A code or type as the `statuses` table compares it: `RESOURCE_EXHAUSTED` and `resource-exhausted` are one."""
    return word.casefold().translate(_JOINTS)


def compile_envelopes(data: Mapping[str, Any]) -> Envelopes:
    """The `envelopes` section of a policy, compiled. Raises ValueError saying which entry cannot be used."""
    roles = _roles(data.get("fields", {}))
    fine = compile_words(data.get("fine", ()))
    shapes = compile_shapes(data.get("shapes", ()), fine)
    finishes = compile_finish(data.get("finish", ()))
    unwrapper = Unwrapper(data.get("unwrap", ()), partial(strength, roles))
    headers = {name.lower(): role for name, role in data.get("headers", {}).items()}
    for name, role in headers.items():
        if role not in HEADER_ROLES:
            raise ValueError(f"envelopes: header `{name}` must be one of {', '.join(HEADER_ROLES)}")
    every = chain(*shapes.values(), *finishes.values())
    return Envelopes(
        roles=roles,
        headers=headers,
        silent=compile_words(data.get("blank", ())) | fine | {""},
        fine=fine - compile_words(data.get("blank", ())),
        answers=frozenset(data.get("answers", ())),
        outcomes=frozenset(data.get("outcomes", ())),
        shapes=shapes,
        finishes=finishes,
        error_events=frozenset(data.get("error_events", ("error",))),
        statuses={squashed(str(word)): status for word, status in data.get("statuses", {}).items()},
        unwrapper=unwrapper,
        _bare_type=_regex("bare_type", data.get("bare_type", "(.+)")),
        _leading_type=_regex("leading_type", data.get("leading_type", "($.)")),
        _alarm=_regex("shapes", compile_alarm(every, unwrapper.content_literals()).encode("latin-1")),
    )


def _roles(fields: Mapping[str, Iterable[str]]) -> Roles:
    roles: dict[str, int] = {}
    for name, keys in fields.items():
        if name.upper() not in Role.__members__:
            raise ValueError(f"envelopes: `{name}` is none of {', '.join(Role.__members__).lower()}")
        for key in keys:
            roles[key] = roles.get(key, 0) | Role[name.upper()].value
    return roles


def _regex(name: str, pattern: str | bytes) -> Any:
    options = re2.Options()
    options.log_errors = False
    if isinstance(pattern, bytes):
        options.encoding = re2.Options.Encoding.LATIN1  # bytes are what they are
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"envelopes: `{name}` does not compile: {error}") from None
