"""From the `state:` of a configuration to a store."""

from __future__ import annotations

from pathlib import Path

from .base import Store, StoreError
from .memory import Memory
from .sqlite import Sqlite

SQLITE = "sqlite:///"


def check_url(url: str, workers: int = 1) -> None:
    """Raises StoreError for an address nobody knows, and where several workers would each have a state of their own."""
    if not url.startswith(("memory:", SQLITE)) or url == SQLITE:
        raise StoreError(f"`{url}` names no store that is known here: `memory://` or `sqlite:///FILE`")
    if url.startswith("memory:") and workers > 1:
        raise StoreError(f"`memory://` cannot be shared by {workers} workers: write `state: sqlite:///faultwise.db`")


def open_store(url: str, folder: Path = Path(), workers: int = 1) -> Store:
    """The store of an address; a relative file lies in `folder`. Raises StoreError as `check_url` does."""
    check_url(url, workers)
    return Memory() if url.startswith("memory:") else Sqlite(sqlite_file(url, folder))


def sqlite_file(url: str, folder: Path = Path()) -> Path:
    """The file of a `sqlite:///` address. `sqlite:////var/x.db` is an absolute one."""
    return folder / url.removeprefix(SQLITE)
