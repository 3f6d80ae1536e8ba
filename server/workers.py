"""Several processes behind one listening socket. The parent serves nothing: it starts them, replaces those that end, and
takes them down in order.
"""

from __future__ import annotations

import logging
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from types import FrameType

log = logging.getLogger("faultwise.server")
BACKLOG = 2048
LOOK = 0.5  # seconds between looks at what was signalled
PATIENCE = 3  # workers in a row that end before they serve, after which it is given up where none serves
READY = 60.0  # seconds a worker may take until it serves
AGAIN = 1.0  # seconds before the next one where one ended before it served; doubles with each
AGAIN_LIMIT = 30.0
Work = Callable[[socket.socket, Event], None]


class WorkersFailed(Exception):
    """Workers end as soon as they start."""


class Crew:
    """The workers. `work` is run in a fresh process, so it must be importable there; it sets the event once it serves."""

    def __init__(self, work: Work, listener: socket.socket, count: int) -> None:
        # not forked: a fork would share connections to the store, and threads that it does not have
        self._context = multiprocessing.get_context("spawn")
        self._work = work
        self._listener = listener
        self._count = count
        self._workers: dict[BaseProcess, Event] = {}
        self._asked: list[int] = []
        self._failures = 0  # workers in a row that ended before they served
        self._next = 0.0  # when the next one may be started

    def run(self) -> None:
        """Serve until told to stop. SIGHUP replaces the workers one by one. Raises WorkersFailed."""
        before = {one: signal.signal(one, self._hear) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
        try:
            for _ in range(self._count):
                self._start()
            while not self._leaving:
                if signal.SIGHUP in self._asked:
                    self._asked.clear()
                    self._renew()
                for writer in logging.getLogger("faultwise").handlers:
                    writer.flush()
                wait([one.sentinel for one in self._workers], LOOK)
                self._replace()
        finally:
            self._end()
            for one, handler in before.items():
                signal.signal(one, handler)

    @property
    def _leaving(self) -> bool:
        return not {signal.SIGTERM, signal.SIGINT}.isdisjoint(self._asked)

    def _hear(self, sig: int, _: FrameType | None) -> None:
        self._asked.append(sig)

    def _start(self) -> BaseProcess:
        ready = self._context.Event()
        worker = self._context.Process(target=self._work, args=(self._listener, ready), name="faultwise-worker")
        worker.start()
        self._workers[worker] = ready
        log.info("worker started pid=%d", worker.pid)
        return worker

    def _replace(self) -> None:
        """Start others in place of those that ended. One that cannot start ends nothing while others serve."""
        for worker, ready in list(self._workers.items()):
            if worker.is_alive():
                continue
            del self._workers[worker]
            log.error("worker ended pid=%d code=%s", worker.pid, worker.exitcode)
            self._failures = 0 if ready.is_set() else self._failures + 1
            pause = min(AGAIN * 2.0 ** (self._failures - 1), AGAIN_LIMIT) if self._failures else 0.0
            self._next = time.monotonic() + pause
        if self._failures >= PATIENCE and not any(ready.is_set() for ready in self._workers.values()):
            raise WorkersFailed(f"{PATIENCE} workers ended as soon as they had started; the log says why")
        while len(self._workers) < self._count and time.monotonic() >= self._next:
            self._start()

    def _renew(self) -> None:
        """Put a fresh worker in the place of each, which goes once that one serves; it stays where that one cannot."""
        for worker in list(self._workers):
            fresh = self._start()
            if not self._served(fresh):
                log.error("workers are not renewed: the fresh one pid=%d does not serve", fresh.pid)
                fresh.terminate()
                fresh.join()
                del self._workers[fresh]
                return
            del self._workers[worker]
            worker.terminate()
            worker.join()

    def _served(self, worker: BaseProcess) -> bool:
        """Wait until a worker serves; whether it does."""
        until = time.monotonic() + READY
        while worker.is_alive() and time.monotonic() < until and not self._leaving:
            if self._workers[worker].wait(LOOK):
                return True
        return False

    def _end(self) -> None:
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            worker.join()
