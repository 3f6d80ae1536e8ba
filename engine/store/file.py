"""The file of the SQLite store: its form, how it is opened, and what happens to one that is damaged."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path

FORM = 1  # PRAGMA user_version
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    kind TEXT NOT NULL, key TEXT NOT NULL, data TEXT, at INTEGER NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS records_at ON records (at);
CREATE TABLE IF NOT EXISTS claims (name TEXT PRIMARY KEY, owner TEXT NOT NULL, since REAL, until REAL) WITHOUT ROWID;
"""
ASIDE = ".damaged"


class Damaged(Exception):
    """The file is not what a store left."""


def connect(path: Path, patience: float, *, sync: str = "FULL", check: bool = True) -> sqlite3.Connection:
    """Open the file, made where there is none. `patience`: seconds to wait for others; `sync`: what a commit waits for.

    Raises Damaged, and sqlite3.Error where it cannot be used now.
    """
    file = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute(f"PRAGMA synchronous = {sync}")
        if check:
            _prepare(file)
    except sqlite3.Error as error:
        file.close()
        if damaged(error):
            raise Damaged(f"{path} is damaged: {error}") from error
        raise
    except BaseException:
        file.close()
        raise
    return file


def damaged(error: sqlite3.Error) -> bool:
    """Whether an error says that the content is wrong, and not that it cannot be had now."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def busy(error: Exception) -> bool:
    """Whether another process is using the file just now."""
    return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def inode(path: Path) -> int:
    """Which file stands at a path; 0 where there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def set_aside(path: Path) -> str | None:
    """Move a damaged file out of the way, unless another process already did; the new path."""
    with closing(open(f"{path}.lock", "wb")) as guard:
        flock(guard, LOCK_EX)
        try:
            connect(path, 1.0).close()
        except Damaged:
            number = 1
            while Path(f"{path}{ASIDE}-{number}").exists():
                number += 1
            aside = f"{path}{ASIDE}-{number}"
            for tail in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(f"{path}{tail}", f"{aside}{tail}")
            return aside
        except sqlite3.Error:
            return None
    return None


def _prepare(file: sqlite3.Connection) -> None:
    (sound,) = file.execute("PRAGMA quick_check(1)").fetchone()
    if sound != "ok":
        raise Damaged(str(sound))
    (form,) = file.execute("PRAGMA user_version").fetchone()
    if form == FORM:
        return
    if form > FORM:
        raise sqlite3.NotSupportedError(f"its form {form} is newer than {FORM}: an older program must not write to it")
    file.execute("BEGIN IMMEDIATE")
    for statement in filter(str.strip, SCHEMA.split(";")):
        file.execute(statement)
    for name, value in (("salt", secrets.token_hex(16)), ("at", "0"), ("horizon", "0")):
        file.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (name, value))
    file.execute(f"PRAGMA user_version = {FORM}")
    file.execute("COMMIT")
