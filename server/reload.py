"""Follows the files and swaps what they say in whole, or keeps the last good and shows why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from watchfiles import Change, awatch

from faultwise.engine.problem import PolicyError, Problem

from .cell import Cell, Refusal
from .loading import Loaded, Loader
from .yielding import yielding

log = logging.getLogger("faultwise.policy")
DEBOUNCE_MS = 200
LOOK_MS = 30_000  # how often files are looked at though nothing was heard of them
RETRY = 1.0  # seconds before watching again after the watcher itself failed


class Reloader:
    """Loads on demand and on change, one at a time."""

    def __init__(self, cell: Cell, loader: Loader, clock: Callable[[], float]) -> None:
        self._cell = cell
        self._loader = loader
        self._clock = clock
        self._turn = asyncio.Lock()
        self.refusals = 0  # changes that were not taken in

    async def reload(self) -> bool:
        """Take in what the files say now; whether it serves. A bad change changes nothing but `cell.refusal`."""
        async with self._turn:
            fingerprint = ""
            try:
                # taken before they are read: what changes while they are, is another change
                fingerprint = await asyncio.to_thread(self._loader.fingerprint)
                loaded = await asyncio.to_thread(self._load)
                mended = self._cell.refusal is not None
                if loaded.fingerprint != self._cell.active.fingerprint:
                    self._cell.take(loaded.policy, loaded.settings, loaded.fingerprint)
                self._cell.refusal = None
                if mended:
                    log.info("policy loaded again: the files are good, generation %d", self._cell.active.generation)
            except PolicyError as error:
                self._refuse(fingerprint, error.problems)
                return False
            except Exception as error:  # a fault of ours, or of what we use: the last good serves on all the same
                log.exception("the files could not be taken in")
                place = str(self._loader.file or "rules")
                message = f"the files could not be taken in: {type(error).__name__}: {error}"
                self._refuse(fingerprint, (Problem(place, 0, 0, "FW070", message, "the server's log says where"),))
                return False
            return True

    def _load(self) -> Loaded:
        with yielding():
            return self._loader.load()

    def _refuse(self, fingerprint: str, problems: Sequence[Problem]) -> None:
        self.refusals += 1
        self._cell.refuse(Refusal(fingerprint, tuple(problems), self._clock()))

    async def follow(self) -> None:
        """Reload whenever a file changes, until cancelled."""
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    await self._until_taken(group)
            except* _Again:
                pass  # what is to be watched may have changed with the files
            except* OSError as errors:
                log.warning("files cannot be watched: %s", errors.exceptions[0])
                await asyncio.sleep(RETRY)
            except* Exception:
                log.exception("following the files failed and is begun anew")
                await asyncio.sleep(RETRY)

    async def _until_taken(self, group: asyncio.TaskGroup) -> None:
        """Watch, in tasks of the group, until a change was loaded or refused; then raise `_Again` to end them."""
        settings = self._cell.active.settings
        changed = asyncio.Event()
        changed.set()  # something may have changed before watching began

        async def watch(paths: frozenset[Path], recursive: bool) -> None:
            follow = awatch(
                *paths,
                watch_filter=None if recursive else counts,
                recursive=recursive,
                debounce=DEBOUNCE_MS,
                rust_timeout=LOOK_MS,
                yield_on_timeout=True,
            )
            async for _ in follow:
                changed.set()

        files = (self._loader.file, *settings.files)
        deep, flat = watched(settings.rules, files)
        own = {str(_existing(path.absolute().parent) / path.name) for path in files if path is not None}

        def counts(change: Change, path: str) -> bool:
            # a log or a store beside our files is written all the time; only what comes, goes or is ours says something
            return change is not Change.modified or path in own

        for paths, recursive in ((deep, True), (flat, False)):
            if paths:
                group.create_task(watch(paths, recursive))
        while True:
            await changed.wait()
            changed.clear()
            if await asyncio.to_thread(self._loader.fingerprint) != self._seen():
                await self.reload()
                raise _Again

    def _seen(self) -> str:
        refusal = self._cell.refusal
        return refusal.fingerprint if refusal is not None else self._cell.active.fingerprint


class _Again(Exception):
    """Watching starts anew."""


def watched(directories: tuple[Path, ...], files: tuple[Path | None, ...]) -> tuple[frozenset[Path], frozenset[Path]]:
    """The directories to watch with all below them, and those to watch alone.

    Every directory's and file's parent is watched as well: there appear directories that did not exist, renamed files
    and swapped links.
    """
    deep = {path.resolve() for path in directories if path.is_dir()}
    flat = {_existing(path.absolute().parent) for path in (*directories, *files) if path is not None}
    return frozenset(deep), frozenset(flat - deep)


def _existing(path: Path) -> Path:
    while not path.is_dir() and path != path.parent:
        path = path.parent
    return path.resolve()
