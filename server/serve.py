"""Runs the server: load, bind, serve, and go down in order."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing.synchronize import Event
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TextIO

import uvicorn
from fastapi import FastAPI

from faultwise.engine.problem import PolicyError, Problem
from faultwise.engine.state.state import State
from faultwise.engine.store.base import Store
from faultwise.engine.store.open import open_store

from .app import create_app
from .cell import Cell, cell
from .front import Front
from .lines import Lines
from .loading import Loaded, Loader
from .reload import Reloader
from .settings import Settings
from .siblings import Siblings
from .workers import BACKLOG, Crew

if TYPE_CHECKING:
    from .proxy.board import Board

log = logging.getLogger("faultwise.server")
LINES = logging.getLogger("faultwise")  # whose handlers are flushed
NOTICE = 0.3  # seconds between "not ready" and the last new connection, for balancers that ask


class Server(uvicorn.Server):
    """Uvicorn, going down in order: `/readyz` first, then no new connections, then the streams within a bound."""

    def __init__(self, config: uvicorn.Config, cell: Cell, reloader: Reloader | None = None) -> None:
        super().__init__(config)
        self._cell = cell
        self._reloader = reloader
        self.ready: Callable[[], None] = lambda: None  # called once it serves
        self._leaves: float | None = None
        self._hung_up = False  # asked by SIGHUP to load what the files say now
        self._reloading: asyncio.Task[bool] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, and say so."""
        await super().startup(sockets)
        log.info("serving pid=%d", os.getpid())
        _flush()
        self.ready()

    def hang_up(self, sig: int, frame: FrameType | None) -> None:
        """Load what the files say now, with the next tick. A handler for SIGHUP."""
        self._hung_up = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal begins the end, a second one forces it."""
        if self._leaves is not None or self._cell.draining:
            super().handle_exit(sig, frame)
            return
        self._cell.draining = True
        self._leaves = time.monotonic() + NOTICE
        log.info("going down signal=%s", signal.Signals(sig).name)

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop."""
        _flush()
        if self._hung_up and self._reloader is not None:
            self._hung_up = False
            self._reloading = asyncio.create_task(self._reloader.reload())
        over = self._leaves is not None and time.monotonic() >= self._leaves
        return await super().on_tick(counter) or over


def run(
    file: Path | None,
    *,
    rules: Sequence[Path] = (),
    shipped: bool = True,
    overrides: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Serve until told to stop.

    `overrides`: single settings of the command line by dotted name (`listen`, `deadlines.total`). Raises `PolicyError`
    where the files cannot serve or the address cannot be bound.
    """
    loader = Loader(file, os.environ if environ is None else environ, overrides or {}, rules, shipped)
    loaded = loader.load()
    for warning in loaded.settings.warnings:
        log.warning("%s", warning)
    listener = bind(loaded.settings)
    host, port = listener.getsockname()[:2]
    listener.listen(BACKLOG)  # who comes before all is ready waits
    workers = loaded.settings.value("workers")
    log.info(
        "listening on http://%s:%d generation=1 digest=%s rules=%d cases=%d connections=%d combos=%d workers=%d",
        *(f"[{host}]" if ":" in host else host, port, loaded.policy.digest, *loaded.policy.counts()),
        *(len(loaded.settings.connections), len(loaded.settings.combos), workers),
    )
    _flush()
    with listener:
        if workers > 1:
            from .proxy.board import Board  # not every system has what it needs

            given = loader.file, dict(loader.environ), dict(loader.overrides), tuple(loader.rules), loader.shipped
            with tempfile.TemporaryDirectory(prefix="faultwise-") as folder:
                Crew(partial(work, *given, Path(folder), Board()), listener, workers).run()
        else:
            serve(loader, loaded, listener)


def serve(
    loader: Loader,
    loaded: Loaded,
    listener: socket.socket,
    ready: Callable[[], None] = lambda: None,
    siblings: Siblings | None = None,
    board: Board | None = None,
) -> None:
    """Serve in this process until told to stop. `ready` is called once it serves; `board`: what siblings share."""
    state = State(store(loaded.settings))
    try:
        first = cell(loaded.policy, loaded.settings, loaded.fingerprint, state, board)
        server = make(create_app(first, loader=loader, siblings=siblings), first)
        server.ready = ready
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, server.hang_up)
        server.run(sockets=[listener] if siblings is None else [listener, siblings.listen()])
    finally:
        if siblings is not None:
            siblings.leave()
        state.store.close()


def work(
    file: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, str],
    rules: Sequence[Path],
    shipped: bool,
    folder: Path,
    board: Board,
    listener: socket.socket,
    ready: Event,
) -> None:
    """What one of several workers does: load what its siblings loaded, and serve."""
    log_to()
    loader = Loader(file, environ, overrides, rules, shipped)
    try:
        loaded = loader.load()
    except PolicyError as error:
        log.error("this worker cannot serve:\n%s", "\n".join(map(str, error.problems)))
        sys.exit(1)
    serve(loader, loaded, listener, ready.set, Siblings(folder), board.join())


def store(settings: Settings) -> Store:
    """The store of a configuration; a relative file lies beside the gateway file."""
    folder = settings.file.parent if settings.file is not None else Path()
    return open_store(str(settings.value("state")), folder, settings.value("workers"))


def make(app: FastAPI, cell: Cell) -> Server:
    """The server of an application. Run it with the sockets it shall listen on."""
    drain = int(cell.active.settings.value("limits.drain"))
    config = uvicorn.Config(
        Front(app, cell),
        interface="asgi3",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # nobody here asks where a client sits
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=max(1, drain),
    )
    return Server(config, cell, app.state.reloader)


def bind(settings: Settings) -> socket.socket:
    """A listening socket on the configured address. Raises `PolicyError` where it cannot be had."""
    host, port = settings.address
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        source = settings.values["listen"].source
        message = f"cannot listen on `{host}:{port}`: {error.strerror or error}"
        hint = "a server may be running there already; --port or `listen` names another port"
        raise PolicyError([Problem(source, 0, 0, "FW068", message, hint)]) from None
    return listener


def _flush() -> None:
    for handler in LINES.handlers:
        handler.flush()


def log_to(stream: TextIO = sys.stderr, level: int = logging.INFO) -> None:
    """Send the log lines of the server to a stream."""
    LINES.handlers[:] = [Lines(stream)]
    LINES.setLevel(level)
    LINES.propagate = False
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
