"""From the `state:` of a configuration to a store."""

from __future__ import annotations

from pathlib import Path

from .base import Store, StoreError
from .memory import Memory
from .sqlite import Sqlite

SQLITE = "sqlite:///"


def open_store(url: str, folder: Path = Path(), workers: int = 1) -> Store:
    """The store of an address; a relative file lies in `folder`.

    Raises StoreError for an address nobody knows, and where several workers would each have a state of their own.
    """
    if url.startswith("memory:"):
        if workers > 1:
            raise StoreError(f"`memory://` cannot be shared by {workers} workers: write `state: sqlite:///faultwise.db`")
        return Memory()
    if url.startswith(SQLITE):
        return Sqlite(sqlite_file(url, folder))
    raise StoreError(f"`{url}` names no store that is known here: `memory://` or `sqlite:///FILE`")


def sqlite_file(url: str, folder: Path = Path()) -> Path:
    """The file of a `sqlite:///` address. `sqlite:////var/x.db` is an absolute one."""
    return folder / url.removeprefix(SQLITE)
