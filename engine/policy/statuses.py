"""The status sets of rules: `403`, `"4xx"`, `"520-524"` and kinds of transport or local failure."""

from __future__ import annotations

from collections.abc import Iterable

from faultwise.engine.failure.record import LOCAL_KINDS, TRANSPORT_KINDS

from .model import StatusSet

KINDS = frozenset(TRANSPORT_KINDS + LOCAL_KINDS)


def parse_statuses(items: Iterable[int | str] | int | str) -> StatusSet:
    """The set a rule's `status` means. Raises ValueError naming the item that means none."""
    if isinstance(items, (int, str)):
        items = (items,)
    numbers: set[int] = set()
    kinds: set[str] = set()
    for item in items:
        if item == "transport":
            kinds |= set(TRANSPORT_KINDS)
        elif item in KINDS:
            kinds.add(str(item))
        else:
            numbers.update(_numbers(item))
    return StatusSet(frozenset(numbers), frozenset(kinds))


def _numbers(item: int | str) -> range:
    text = str(item)
    if len(text) == 3 and text[1:] == "xx" and text[0].isdigit():
        return _bounded(int(text[0]) * 100, int(text[0]) * 100 + 99, item)
    first, dash, last = text.partition("-")
    if first.isdigit() and (last.isdigit() if dash else not last):
        return _bounded(int(first), int(last or first), item)
    raise ValueError(f"`{item}` is neither a status, a range nor a kind of failure")


def _bounded(first: int, last: int, item: int | str) -> range:
    if not 100 <= first <= last <= 599:
        raise ValueError(f"`{item}` is not within 100 to 599")
    return range(first, last + 1)
