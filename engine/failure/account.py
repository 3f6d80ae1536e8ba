"""An error taken apart: what each server on the way said, the outermost first, every word under its role.

What a key means is data, handed in as `Envelopes`; how the pieces are put together, and the bounds, are here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntFlag
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from .decode import cleaned, unescaped
from .echo import Echo
from .literal import MISSING
from .page import page_at, visible
from .shape import as_status
from .unwrap import Inner

if TYPE_CHECKING:
    from .envelope import Envelopes

DEEPEST_LAYER = 4
DEEPEST_LEVEL = 10  # objects within objects of one layer
MOST_ITEMS = 16  # of a list
MOST_TEXTS = 48  # messages, and as many codes, types and params, of one failure
LONGEST_TEXT = 16 * 1024  # characters of one message
PAGE_WITNESS = 64  # characters of a page that tell whether the client sent it
LONGEST_TOKEN = 200  # characters of a code, a type or a param


class Role(IntFlag):
    """What the key of an error object says of its value; a key may have several."""

    MESSAGE = 32  # more than all that say nothing but words for programs
    CODE = 1
    TYPE = 2
    PARAM = 4
    STATUS = 8
    INNER_STATUS = 16
    WITHIN = 64
    WRAPPED = 128


# As plain numbers: flags of an enum are slow to test.
MESSAGE, CODE, TYPE, PARAM, STATUS, INNER_STATUS, WITHIN, WRAPPED = map(int, Role)
DEEPER = MESSAGE | WITHIN

LONGEST_MUTE = 10
EXCEPTION = "Exception"  # how the key of an object ends that names the object's kind
_MUTE = frozenset({"null", "none", "undefined"})
_CLASS_BEFORE = re.compile(
    r"(?:^|[\s\])])([A-Za-z]\w{3,60}(?:Exception|Error))[: ]{1,2}$"
)  # `ThrottlingException: {…}`
_ONE_WORD = re.compile(r"[A-Za-z][\w.:-]{2,63}")


class Layer:
    """What one server said. `wrapping` are those of its messages that stand around what the next one said."""

    __slots__ = ("codes", "leads", "messages", "params", "status", "types", "wrapping")

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.codes: list[str] = []
        self.types: list[str] = []
        self.params: list[str] = []
        self.wrapping: list[str] = []
        self.leads: list[str] = []  # words of the layer above that may name this one's status
        self.status: int | None = None


class Account(NamedTuple):
    """Everything an error says, innermost first, each text once. `layers` and `documents` are outermost first."""

    messages: tuple[str, ...]
    codes: tuple[str, ...]
    types: tuple[str, ...]
    params: tuple[str, ...]
    outer: tuple[str, ...]  # what the servers in front of the innermost said, outermost first
    documents: tuple[Any, ...]  # the JSON that was read
    layers: tuple[Layer, ...]
    page: bool = False  # a message holds an HTML page, of which only what is seen was kept

    @property
    def own(self) -> int | None:
        """The status the outermost server's error names."""
        return self.layers[0].status


def take_apart(envelopes: Envelopes, document: Any, text: str, echo: Echo | None) -> Account:
    """What an error says: a parsed document, or a text where `document` is `MISSING`. `plain` does the same, sooner."""
    walk = _Walk(envelopes, echo)
    if document is MISSING:
        walk.message(text, 0)
    else:
        walk.document(document, 0)
        delivered = envelopes.unwrapper.content(document)
        if delivered is not None:
            walk.delivered(delivered)
    return _account(walk)


def _account(walk: _Walk) -> Account:
    layers = walk.layers
    documents = tuple(walk.documents)
    if len(layers) == 1:
        (only,) = layers
        return Account(
            once(only.messages),
            once(only.codes),
            once(only.types),
            once(only.params),
            (),
            documents,
            (only,),
            walk.page,
        )
    deepest = max((depth for depth, layer in enumerate(layers) if layer.messages), default=0)
    inward = layers[::-1]
    return Account(
        once(chain.from_iterable(layer.messages for layer in inward)),
        once(chain.from_iterable(layer.codes for layer in inward)),
        once(chain.from_iterable(layer.types for layer in inward)),
        once(chain.from_iterable(layer.params for layer in inward)),
        once(text for layer in layers[:deepest] for text in chain(layer.wrapping, layer.messages)),
        documents,
        tuple(layers),
        walk.page,
    )


def once(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once."""
    return tuple(dict.fromkeys(texts)) if texts else ()


def is_mute(text: str) -> bool:
    """Whether a message has no words: blank, or what a program writes for nothing."""
    return len(text) < LONGEST_MUTE and (not text or text.lower() in _MUTE)


class _Walk:
    """One reading of one error: collects into layers, within the bounds."""

    __slots__ = ("_echo", "_envelopes", "_inside", "_left", "_plain", "_roles", "documents", "layers", "page")

    def __init__(self, envelopes: Envelopes, echo: Echo | None) -> None:
        self._envelopes = envelopes
        self._roles = envelopes.roles
        self._inside = envelopes.unwrapper.inside
        self._plain = envelopes.unwrapper.plain
        self._echo = echo
        self._left = MOST_TEXTS
        self.layers = [Layer()]
        self.documents: list[Any] = []
        self.page = False

    def document(self, value: Any, depth: int) -> None:
        """A parsed document, said by the server at a depth."""
        self.documents.append(value)
        self._value(value, depth, 0)

    def delivered(self, inner: Inner) -> None:
        """An error delivered as an answer: said by the server behind the one that delivered it."""
        self._layer(1).status = inner.status
        self.message(inner.message or "", 1)

    def message(self, text: str, depth: int) -> None:
        """A message; what stands inside it is said by the servers further in."""
        text = text[:LONGEST_TEXT].strip()
        plain = self._plain(text)
        if not plain:
            text = cleaned(text).strip()
        if self._left <= 0 or is_mute(text):
            return
        self._left -= 1
        layer = self.layers[depth]
        at = -1 if plain else page_at(text)
        if at >= 0 and not (self._echo and self._echo.quotes(text[at : at + PAGE_WITNESS])):
            text = self._seen(text, at, depth)
        found = () if plain or depth >= DEEPEST_LAYER else self._inside(text, self._echo)
        said = whole = False
        for inner in found:
            if inner.source and self._echo is not None and self._echo.quotes(inner.source):
                continue
            said = self._inner(inner, depth + 1) or said
            whole = whole or inner.whole
        if not said:
            leading = self._envelopes.leading_type(text)
            if leading and not (self._echo and self._echo.repeats(leading, text)):
                self._token(layer.types, leading)
            layer.messages.append(unescaped(text))
        elif not whole:
            layer.wrapping.append(unescaped(text))

    def _seen(self, text: str, at: int, depth: int) -> str:
        """A text that holds a page, as a person would see it; the page's title is a message of its own."""
        self.page = True
        title, seen = visible(text[at:])
        if title:
            self.layers[depth].messages.append(title)
        return f"{text[:at]}{seen}".strip()

    def _inner(self, inner: Inner, depth: int) -> bool:
        """One thing inside a message; whether it has words of its own."""
        layer = self._layer(depth)
        left = self._left
        if inner.document is not MISSING:
            self.document(inner.document, depth)
        else:
            self.message(inner.message or "", depth)
        if inner.code:
            self._token(layer.codes, inner.code)
        if inner.lead:
            layer.leads.append(inner.lead)
            if named := _CLASS_BEFORE.search(inner.lead[-LONGEST_TOKEN:]):
                self._token(layer.types, named[1])
        if layer.status is None:
            layer.status = inner.status
        return self._left < left

    def _layer(self, depth: int) -> Layer:
        while len(self.layers) <= depth:
            self.layers.append(Layer())
        return self.layers[depth]

    def _value(self, value: Any, depth: int, level: int) -> None:
        if isinstance(value, dict):
            self._object(value, depth, level)
        elif isinstance(value, list):
            if level < DEEPEST_LEVEL:
                for item in value[:MOST_ITEMS]:
                    self._value(item, depth, level + 1)
        elif isinstance(value, str):
            self.message(value, depth)

    def _object(self, value: dict[str, Any], depth: int, level: int) -> None:
        """One object: the nearer accounts in it first, then its own words, so that the innermost come first."""
        own: list[tuple[int, Any]] = []
        roles = self._roles
        for key, held in value.items():
            role = roles.get(key)
            if held is None:
                continue
            if key.endswith(EXCEPTION) and isinstance(held, dict):  # `{"ThrottlingException": {…}}`
                self._token(self.layers[depth].types, key)
                role = WITHIN
            if role is None:
                continue
            if role < MESSAGE or role == MESSAGE and isinstance(held, str):
                own.append((role, held))
            elif role & WRAPPED:
                self._wrapped(held, depth, level)
            elif role & DEEPER and isinstance(held, (dict, list)) and level < DEEPEST_LEVEL:
                self._value(held, depth, level + 1)
            elif role & WITHIN and not role & MESSAGE:
                self._bare(held, depth)
            else:
                own.append((role, held))
        for role, held in own:
            if role < MESSAGE:
                self._own(role, held, depth)
            elif isinstance(held, str):
                self.message(held, depth)

    def _wrapped(self, held: Any, depth: int, level: int) -> None:
        """The answer of the server behind, one layer further in."""
        if depth >= DEEPEST_LAYER or level >= DEEPEST_LEVEL:
            return
        self._layer(depth + 1)
        if isinstance(held, (dict, list)):
            self.documents.append(held)
        self._value(held, depth + 1, level + 1)

    def _bare(self, held: Any, depth: int) -> None:
        """`"error": "text"` instead of an object: the words, and where they are one word a code too."""
        layer = self.layers[depth]
        if isinstance(held, str):
            if _ONE_WORD.fullmatch(held):
                self._token(layer.codes, held)
            self.message(held, depth)
        elif isinstance(held, (int, float)) and not isinstance(held, bool):
            self._status(layer, held, layer.codes)

    def _own(self, role: int, held: Any, depth: int) -> None:
        """One word for programs, under its role."""
        layer = self.layers[depth]
        if isinstance(held, bool):
            return
        if role & CODE:
            if role & STATUS and layer.status is None:
                layer.status = as_status(held)
            if isinstance(held, list):
                for one in held[:MOST_ITEMS]:
                    self._token(layer.codes, one)
            else:
                self._token(layer.codes, held)
        elif role & TYPE:
            self._token(
                layer.types, self._envelopes.bare(cleaned(held[:LONGEST_TOKEN])) if isinstance(held, str) else held
            )
        elif role & PARAM:
            path = ".".join(map(str, held[:MOST_ITEMS])) if isinstance(held, list) else held
            self._token(layer.params, path)
        elif role & STATUS:
            self._status(layer, held, layer.types if isinstance(held, str) else layer.codes)
        elif depth < DEEPEST_LAYER:
            behind = self._layer(depth + 1)
            if behind.status is None:
                behind.status = as_status(held)

    def _status(self, layer: Layer, held: Any, otherwise: list[str]) -> None:
        """A number that is a status, or else a code or a type."""
        status = as_status(held)
        if status is None:
            self._token(otherwise, held)
        elif layer.status is None:
            layer.status = status

    def _token(self, into: list[str], held: Any) -> None:
        """A code, a type or a param as a string, unless it says nothing or that all is well."""
        if isinstance(held, str):
            text = cleaned(held[:LONGEST_TOKEN]).strip()
        elif isinstance(held, (int, float)):
            text = str(held)[:LONGEST_TOKEN]
        else:
            return
        if text.lower() not in self._envelopes.silent and len(into) < MOST_TEXTS:
            into.append(text)
