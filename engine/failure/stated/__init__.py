"""What the upstream states about time: one wait, in seconds from now, or none.

Sources are trusted in the order header, rpc, body, prose; within one, what is implausible (past, zero, beyond ten
years, not a number) was not said and the next is looked at. No caps are applied here. A provider's file may declare
its own clocks: `headers` (name -> kind, see `value`), `zone` (of moments in bodies and prose that name none) and
`ignore` (headers that do not mean what they say). Nothing here raises, whatever the upstream sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from . import body, headers, prose
from .value import KINDS
from .zones import zone

if TYPE_CHECKING:
    from faultwise.engine.failure.reading import Reading

__all__ = ["KINDS", "SOURCES", "Stated", "find", "find_stated"]

SOURCES = ("header", "rpc", "body", "prose")


class Stated(NamedTuple):
    """A wait as the upstream stated it."""

    seconds: float
    source: str  # one of SOURCES
    where: str  # `retry-after`, `error.details[0].retryDelay`, `try again in 7m12.5s`


def find(
    sent: Iterable[tuple[str, str]],
    documents: Sequence[Any] = (),
    texts: Sequence[str] = (),
    now: float = 0.0,
    clocks: Mapping[str, Any] | None = None,
    status: int | None = None,
    echoed: Callable[[str, str], bool] | None = None,
) -> Stated | None:
    """The most trusted wait among headers, parsed JSON and texts (both innermost first).

    `status` is the upstream's: of a request that was let through or refused for what it was, a reset header without a
    word about what remains is no wait. None: not known. `echoed(words, text)` says that a text repeats the client's
    words: prose the client wrote states nothing.
    """
    kinds, ignore, home = _declared(clocks) if clocks else _UNDECLARED
    if sent and (found := headers.stated(sent, now, kinds, ignore, status)):
        return Stated(found[0], "header", found[1])
    if documents:
        rpc, keyed = body.stated(documents, now, home, kinds, ignore)
        if rpc:
            return Stated(rpc[0], "rpc", rpc[1])
        if keyed:
            return Stated(keyed[0], "body", keyed[1])
    if found := prose.stated(texts, now, home, echoed):
        return Stated(found[0], "prose", found[1])
    return None


_UNDECLARED: tuple[Mapping[str, str], Sequence[str], tzinfo] = ({}, (), UTC)


def _declared(clocks: Mapping[str, Any]) -> tuple[Mapping[str, str], Sequence[str], tzinfo]:
    """What a provider's file says of its clocks: kinds by header, headers to ignore, the zone of bare moments."""
    kinds = {str(name).lower(): str(kind) for name, kind in (clocks.get("headers") or {}).items()}
    ignore = [str(name).lower() for name in clocks.get("ignore") or ()]
    return kinds, ignore, zone(clocks.get("zone")) or UTC


def find_stated(reading: Reading) -> Stated | None:
    """What the failure that is read states, by its provider's own clocks where its file declares any.

    The whole body is read only where no message was found in it: an answer's own prose is not the upstream's.
    """
    if not reading.is_error:
        return None
    declared = reading.declared
    clocks = declared.stated if declared else None
    texts: Sequence[str] = reading.message
    if reading.outer:
        texts = (*texts, *reversed(reading.outer))
    if not texts and (reading.upstream_status or 0) >= 400:
        texts = (reading.body,)
    return find(
        reading.headers if clocks or headers.telling(reading.headers) else (),
        () if body.silent(reading.body) else reading.documents[::-1],
        texts,
        reading.now,
        clocks,
        reading.upstream_status,
        reading.echoed if reading.failure.request else None,
    )
