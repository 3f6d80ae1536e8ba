"""`sqlite:///FILE`: state that survives restarts and that several processes of one machine share.

One thread writes and looks for what other processes wrote. A batch of changes is one transaction with a full sync before
it counts as acknowledged. A file that cannot be used now is tried again and again, while its changes wait; a damaged one
is kept beside a fresh one.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .base import LOST, Change, Data, Row, StoreHealth, holds
from .file import Damaged, busy, connect, inode, set_aside
from .queue import Queue, Waiting

POLL = 0.02  # seconds between looks for what others wrote
RETRY = 0.25  # seconds before a file that could not be used is tried again
CLAIM_PATIENCE = 0.25  # seconds a claim waits for the file
TOMBSTONES = 20_000  # changes for which removals are remembered
Connect = Callable[..., sqlite3.Connection]


class Sqlite:
    """A store in one file. `connect` opens it, given the path and the seconds to wait for a lock."""

    durable = True
    shared = True

    def __init__(self, path: Path | str, *, connect: Connect = connect, poll: float = POLL, retry: float = RETRY):
        self.inbox: deque[Row] = deque()
        self.salt = b""
        self._path = Path(path)
        self._connect = connect
        self._poll = poll
        self._retry = retry
        self._queue = Queue()
        self._file: sqlite3.Connection | None = None
        self._inode = 0
        self._seen = -1  # PRAGMA data_version when we last looked
        self._at = 0  # the newest change that was taken in
        self._error: str | None = None
        self._away: float | None = None
        self._aside: str | None = None
        self._lost = False  # what the file held is not there any more
        self._faults = 0
        self._fault: str | None = None
        self._claims = threading.Lock()
        self._claiming: sqlite3.Connection | None = None
        self._process = secrets.token_hex(8)
        self._held: dict[str, tuple[str, float, float]] = {}
        self._rows: list[Row] = []
        self._attempt(self._first)
        if not self.salt:
            self.salt = secrets.token_bytes(16)
        self._thread = threading.Thread(target=self._run, name="faultwise-store", daemon=True)
        self._thread.start()

    def load(self) -> Iterable[Row]:
        rows, self._rows = self._rows, []
        return rows

    def submit(self, kind: str, key: str, change: Change, settled: Data | None) -> None:
        self._queue.put((kind, key), change, settled)

    def claim(self, name: str, owner: str, now: float, until: float) -> bool:
        with self._claims:
            held = self._held.get(name)
            if held is not None and held[0] != owner and holds(held[1], held[2], now):
                return False
            try:
                free = self._claim(name, owner, now, until)
            except Exception as error:
                # where nobody else can be asked, one for each process is the best there is
                free = self._away is not None or not busy(error)
                self._drop_claiming()
            if free:
                self._held[name] = (owner, now, until)
            return free

    def release(self, name: str, owner: str) -> None:
        held = self._held.get(name)
        if held is not None and held[0] == owner:
            del self._held[name]
            self._queue.release(name, f"{self._process}:{owner}")

    def flush(self, patience: float) -> bool:
        return self._queue.wait(lambda: self._queue.empty, patience)

    def health(self) -> StoreHealth:
        away = self._away
        return StoreHealth(
            kind="sqlite",
            status="ok" if away is None else "away",
            queued=len(self._queue),
            collapsed=self._queue.collapsed,
            error=self._error or self._fault,
            since=None if away is None else time.monotonic() - away,
            set_aside=self._aside,
            faults=self._faults,
        )

    def close(self) -> None:
        with self._queue.ready:
            self._queue.closing = True
            self._queue.ready.notify_all()
        self._thread.join(5.0)
        with self._claims:
            self._drop_claiming()

    # the thread

    def _run(self) -> None:
        while True:
            taken, released = self._queue.take(self._poll)
            if self._attempt(lambda: self._round(taken, released)):  # noqa: B023  # called at once
                self._queue.done()
            else:
                self._queue.back(taken, released)
                if not self._queue.closing:
                    with self._queue.ready:
                        self._queue.ready.wait_for(lambda: self._queue.closing, self._retry)
            if self._queue.closing and (self._away is not None or self._queue.empty):
                break
        self._shut()

    def _attempt(self, work: Callable[[], None]) -> bool:
        """Do some work with the file; whether it went well. What went wrong is noted, and the file let go."""
        try:
            work()
        except Damaged as damaged:
            self._aside = set_aside(self._path) or self._aside
            self._lost = True
            self._fail(str(damaged))
            return False
        except (sqlite3.Error, OSError) as error:
            self._fail(str(error), shut=not busy(error))
            return False
        except Exception as error:  # of ours; whatever it is, the thread that writes must go on
            self._faults += 1
            self._fail(f"a fault of the store itself: {error!r}")
            return False
        self._away = self._error = None
        return True

    def _fail(self, message: str, *, shut: bool = True) -> None:
        self._error = message
        if self._away is None:
            self._away = time.monotonic()
        if shut:
            self._shut()

    def _shut(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(sqlite3.Error):  # it is given up; what it says to that changes nothing
                file.close()

    def _first(self) -> None:
        self._open()
        self._rows = [row for row in self._newer() if row.data is not None]

    def _round(self, taken: Waiting, released: dict[str, str]) -> None:
        if self._file is not None and inode(self._path) != self._inode:
            self._shut()  # another file stands there now
            self._lost = True
        if self._file is None:
            known = self._inode
            self._open()
            self._at = 0
            self.inbox.extend(self._newer())
            if self._lost or known not in (0, self._inode):
                self.inbox.append(Row(LOST, "", None))
                self._lost = False
        if taken or released:
            self._write(taken, released)
        version = self._version()
        if version != self._seen:
            self._seen = version
            self.inbox.extend(self._newer())

    def _open(self) -> None:
        self._shut()
        self._file = self._connect(self._path, 1.0)
        self._inode = inode(self._path)
        self._seen = -1
        (salt,) = self._file.execute("SELECT value FROM meta WHERE name = 'salt'").fetchone()
        self.salt = self.salt or bytes.fromhex(salt)

    def _version(self) -> int:
        assert self._file is not None, "opened before"
        (version,) = self._file.execute("PRAGMA data_version").fetchone()
        return int(version)

    def _newer(self) -> list[Row]:
        """What was written since we last looked."""
        assert self._file is not None, "opened before"
        (horizon,) = self._file.execute("SELECT value FROM meta WHERE name = 'horizon'").fetchone()
        if self._at < int(horizon):
            self._at = 0  # removals since then may have been forgotten: everything is taken in again
        rows = []
        for kind, key, data, at in self._file.execute(
            "SELECT kind, key, data, at FROM records WHERE at > ? ORDER BY at", (self._at,)
        ):
            with self._one(f"{kind} {key!r}"):
                rows.append(Row(kind, key, None if data is None else json.loads(data)))
            self._at = at
        return rows

    def _write(self, taken: Waiting, released: dict[str, str]) -> None:
        file = self._file
        assert file is not None, "opened before"
        before_us = self._at
        file.execute("BEGIN IMMEDIATE")
        try:
            rows = self._newer()
            (at,) = file.execute("SELECT value FROM meta WHERE name = 'at'").fetchone()
            at = int(at)
            for (kind, key), (changes, count) in taken.items():
                before, after = self._changed(file, kind, key, changes)
                if after != before and self._kept(file, kind, key, after, at + 1):
                    at += 1
                    before = after
                rows.append(Row(kind, key, before, count))
            for name, owner in released.items():
                with self._one(f"the claim {name!r}"):
                    file.execute("DELETE FROM claims WHERE name = ? AND owner = ?", (name, owner))
            file.execute("UPDATE meta SET value = ? WHERE name = 'at'", (str(at),))
            if at % 1000 == 0:
                self._forget(file, at)
            file.execute("COMMIT")
        except BaseException:
            self._at = before_us
            with suppress(sqlite3.Error):  # a transaction that cannot be undone has ended by itself
                file.execute("ROLLBACK")
            raise
        self._at = at
        self.inbox.extend(rows)

    @contextmanager
    def _one(self, what: str) -> Iterator[None]:
        """What cannot be written by itself is dropped and counted: it must not hold up all others."""
        try:
            yield
        except sqlite3.Error:
            raise
        except Exception as error:
            self._faults += 1
            self._fault = f"{what} cannot be kept and is left out: {error!r}"

    def _kept(self, file: sqlite3.Connection, kind: str, key: str, data: Data | None, at: int) -> bool:
        """Write a record; whether that was possible."""
        with self._one(f"{kind} {key!r}"):
            text = None if data is None else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
            file.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)", (kind, key, text, at))
            return True
        return False

    def _changed(
        self, file: sqlite3.Connection, kind: str, key: str, changes: list[Change]
    ) -> tuple[Data | None, Data | None]:
        before: Data | None = None
        with self._one(f"{kind} {key!r}"):
            found = file.execute("SELECT data FROM records WHERE kind = ? AND key = ?", (kind, key)).fetchone()
            before = json.loads(found[0]) if found is not None and found[0] is not None else None
        after = before
        for change in changes:
            try:
                after = change(after)
            except Exception as error:  # one bad change must not hold up all others
                self._faults += 1
                self._fault = f"a change of {kind} {key} failed: {error!r}"
        return before, after

    def _forget(self, file: sqlite3.Connection, at: int) -> None:
        file.execute("DELETE FROM records WHERE data IS NULL AND at < ?", (at - TOMBSTONES,))
        file.execute("UPDATE meta SET value = ? WHERE name = 'horizon'", (str(max(0, at - TOMBSTONES)),))

    # claims, from any thread

    def _claim(self, name: str, owner: str, now: float, until: float) -> bool:
        file = self._claiming
        if file is None or inode(self._path) != self._inode:
            self._drop_claiming()
            file = self._claiming = self._connect(self._path, CLAIM_PATIENCE, sync="NORMAL", check=False)
        if not self._free(file, name, now):  # looked at before the file is locked: most are refused
            return False
        file.execute("BEGIN IMMEDIATE")
        free = self._free(file, name, now)
        if free:
            row = (name, f"{self._process}:{owner}", now, until)
            file.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", row)
        file.execute("COMMIT")
        return free

    def _free(self, file: sqlite3.Connection, name: str, now: float) -> bool:
        found = file.execute("SELECT owner, since, until FROM claims WHERE name = ?", (name,)).fetchone()
        # one of our own that is no longer held is being given back
        return found is None or found[0].startswith(self._process) or not holds(found[1], found[2], now)

    def _drop_claiming(self) -> None:
        file, self._claiming = self._claiming, None
        if file is not None:
            with suppress(sqlite3.Error):  # as above
                file.close()
