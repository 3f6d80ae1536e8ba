"""The shape nearly all errors have, taken apart in one pass: an object, or objects in it, of words and numbers.

What `account.take_apart` makes of an error, to the letter, or nothing where there is more to it: the walk is the rule,
this is its short cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .account import (
    CODE,
    EXCEPTION,
    LONGEST_TEXT,
    LONGEST_TOKEN,
    MESSAGE,
    PARAM,
    STATUS,
    TYPE,
    WITHIN,
    WRAPPED,
    Account,
    Layer,
    is_mute,
    once,
)
from .shape import as_status

if TYPE_CHECKING:
    from .envelope import Envelopes

Said = tuple[int, Any]  # the role of a key, and what it holds

MOST_WORDS = 24  # of an error that is read so: fewer than the walk stops at


def plain(envelopes: Envelopes, document: dict[str, Any]) -> Account | None:
    """The account of a document without anything inside its messages, without lists and layers; None for all others."""
    said = _said(envelopes.roles, document)
    unwrapper = envelopes.unwrapper
    if said is None or len(said) > MOST_WORDS or not unwrapper.answers.isdisjoint(document):
        return None
    silent = envelopes.silent
    layer = Layer()
    for role, held in said:
        if role == MESSAGE:
            text = held.strip()
            if len(held) > LONGEST_TEXT or not unwrapper.plain(text) or envelopes.leading_type(text):
                return None
            if not is_mute(text):
                layer.messages.append(text)
            continue
        kind = held.__class__
        if kind is str:
            if len(held) > LONGEST_TOKEN or not held.isascii() or "\0" in held:
                return None
            text = (envelopes.bare(held) if role & TYPE and not role & CODE else held).strip()
        elif kind is int:
            text = str(held)[:LONGEST_TOKEN]
        elif kind is bool:
            continue
        else:
            return None
        if role & CODE:
            into = layer.codes
            if role & STATUS and layer.status is None:
                layer.status = as_status(held)
        elif role & TYPE:
            into = layer.types
        elif role & PARAM:
            into = layer.params
        elif role & STATUS:
            if (status := as_status(held)) is not None:
                layer.status = layer.status or status
                continue
            into = layer.types if kind is str else layer.codes
        else:
            return None
        if text.lower() not in silent:
            into.append(text)
    return Account(
        once(layer.messages), once(layer.codes), once(layer.types), once(layer.params), (), (document,), (layer,)
    )


def _said(roles: Mapping[str, int], document: dict[str, Any]) -> list[Said] | None:
    """What each key says, the words of inner objects first; None where anything else stands there."""
    inner: list[Said] = []
    own: list[Said] = []
    for key, held in document.items():
        role = roles.get(key, 0)
        if held is None or not role and held.__class__ is not dict:
            continue
        if held.__class__ is dict:
            if key.endswith(EXCEPTION) or role & WRAPPED or role and not role & WITHIN:
                return None
            if role and not _gathered(roles, held, inner):
                return None
        elif role < MESSAGE or role == MESSAGE and held.__class__ is str:
            own.append((role, held))
        else:
            return None
    return inner + own


def _gathered(roles: Mapping[str, int], value: dict[str, Any], into: list[Said]) -> bool:
    """Whether an inner object holds words only, which are put with the others."""
    for key, held in value.items():
        role = roles.get(key, 0)
        if held is None:
            continue
        if held.__class__ is dict and (role or key.endswith(EXCEPTION)):
            return False
        if role >= MESSAGE and not (role == MESSAGE and held.__class__ is str):
            return False
        if role:
            into.append((role, held))
    return True
