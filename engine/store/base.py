"""What every store promises.

A store keeps records: JSON-ready data under a kind and a key. A change is a function from what is kept to what shall be
kept, applied to the newest content in one transaction, so that two processes that change one record both count. Reads on
the hot path never come here: readers hold a view and take in what `inbox` says.

*Acknowledged* means that the write returned. Until then, and while a store is away, changes wait in a bounded queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

Data = Mapping[str, Any]
Change = Callable[["Data | None"], "Data | None"]

LOST = ""  # the kind of the row that says: the store began anew, give it what you have
CLAIM_SLACK = 5.0  # seconds by which clocks may differ before a claim from the future is void


class StoreError(Exception):
    """The store cannot be used as it was asked for. The message is for the operator."""


@dataclass(frozen=True, slots=True)
class Row:
    """A record as the store now has it. `data` is None where it is gone."""

    kind: str
    key: str
    data: Data | None
    settles: int = 0  # how many of our own changes this acknowledges; 0: somebody else's


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """How a store is doing. `queued`: changes not yet acknowledged."""

    kind: str
    status: str  # ok | away
    queued: int = 0
    collapsed: int = 0  # changes that were joined because the queue was full
    error: str | None = None
    since: float | None = None  # seconds it has been away
    set_aside: str | None = None  # where a damaged file was kept
    faults: int = 0  # changes that failed by themselves: an error of ours

    def to_json(self) -> dict[str, Any]:
        """The health as JSON-ready data."""
        return asdict(self)


class Store(Protocol):
    """What a store can do. All but `load`, `claim`, `flush` and `close` return without waiting for anything."""

    durable: bool  # what it acknowledged survives the process
    shared: bool  # other processes see it
    salt: bytes  # for keyed hashes; the same for all that share the store
    inbox: deque[Row]  # what became known since it was last emptied, in order

    def load(self) -> Iterable[Row]:
        """Every record, once, before anything else."""

    def submit(self, kind: str, key: str, change: Change, settled: Data | None) -> None:
        """Have a change made. `settled`: what it comes to here, should there be no room to keep it apart."""

    def claim(self, name: str, owner: str, now: float, until: float) -> bool:
        """Take what only one may have until then; whether it was free. May wait for the disk."""

    def release(self, name: str, owner: str) -> None:
        """Give a claim back. Nothing happens where it is another's."""

    def flush(self, patience: float) -> bool:
        """Wait until every change was acknowledged; whether that came about within `patience` seconds."""

    def health(self) -> StoreHealth:
        """How it is doing."""

    def close(self) -> None:
        """Write what is left, as far as that is possible, and let go."""


def holds(since: float, until: float, now: float) -> bool:
    """Whether a claim is active. One from the future is not: the clock was put back."""
    return since - CLAIM_SLACK <= now < until
