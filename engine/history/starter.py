"""A rule to begin with for each group of failures no rule knows: it fires in its own case and misses a plain one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .unmatched import Look

_SLUG = re.compile(r"[^a-z0-9]+")
WORDS = 5


def starters(groups: Iterable[tuple[Look, int]]) -> str:
    """Provider files, one a provider, as YAML documents: rules with the reason the status had, and their cases."""
    by_provider: dict[str, list[tuple[Look, int]]] = {}
    for look, count in groups:
        by_provider.setdefault(look.provider or "example", []).append((look, count))
    return "---\n".join(_file(provider, held) for provider, held in by_provider.items())


def _file(provider: str, groups: list[tuple[Look, int]]) -> str:
    rules: list[str] = []
    cases: list[str] = []
    names: set[str] = set()
    for look, count in groups:
        name = _name(provider, look)
        name = f"{name}-{look.digest[:6]}" if name in names else name
        names.add(name)
        rules += _rule(name, look, count)
        cases += _cases(name, look)
    head = ["faultwise: 1", "kind: provider", f"provider: {_scalar(provider)}", ""]
    return "\n".join([*head, "rules:", *rules, "", "cases:", *cases, ""])


def _rule(name: str, look: Look, count: int) -> Iterator[str]:
    yield f"  # seen {count} time{'s' * (count != 1)}; `{look.reason}` is what the status alone was taken to mean"
    yield f"  - id: {_scalar(name)}"
    yield f"    why: {_scalar('Say what this means, for the person on call.')}"
    yield f"    status: [{look.status}]"
    yield from (f"    {line}" for line in _condition(look))
    yield f"    reason: {look.reason}"


def _condition(look: Look) -> Iterator[str]:
    """Structure before words: the code, else the type, else a phrase."""
    if look.code:
        yield f"when: {_scalar(f'code == {json.dumps(look.code[0], ensure_ascii=False)}')}"
    elif look.phrase:
        yield f"any: [{_scalar(look.phrase)}]"
    elif look.type:
        yield f"when: {_scalar(f'type == {json.dumps(look.type[0], ensure_ascii=False)}')}"


def _cases(name: str, look: Look) -> Iterator[str]:
    error: dict[str, Any] = {"message": look.message} if look.message else {}
    error |= {"code": look.code[0]} if look.code else {}
    error |= {"type": look.type[0]} if look.type else {}
    plain = look.status if any(_condition(look)) else (418 if look.status != 418 else 400)
    yield f"  - name: {_scalar(look.phrase or f'{name} fires')}"
    yield f"    status: {look.status}"
    yield f"    body: {_scalar({'error': error})}"
    yield f"    expect: {{rule: {_scalar(name)}}}"
    yield f"  - name: {_scalar(f'another failure is not {name}')}"
    yield f"    status: {plain}"
    yield "    body: {error: {message: something else}}"
    yield f"    expect: {{not_rule: {_scalar(name)}}}"


def _name(provider: str, look: Look) -> str:
    """Named for what it recognises."""
    words = _SLUG.sub("-", (look.code or (look.phrase,))[0].lower()).strip("-").split("-")[:WORDS]
    what = "-".join(word for word in words if word) or look.digest[:6]
    return f"{_SLUG.sub('-', provider.lower()).strip('-')}-{what}"


def _scalar(value: Any) -> str:
    """A value as YAML: JSON is YAML, and quotes everything that could be taken for something else."""
    return json.dumps(value, ensure_ascii=False)
