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
from types import FrameType

log = logging.getLogger("faultwise.server")
BACKLOG = 2048
LOOK = 0.5  # seconds between looks at what was signalled
SHORT = 2.0  # seconds a worker lives at least that did not fail at once
PATIENCE = 3  # workers that fail at once before it is given up
Work = Callable[[socket.socket], None]


class WorkersFailed(Exception):
    """Workers end as soon as they start."""


class Crew:
    """The workers. `work` is run in a fresh process, so it must be importable there."""

    def __init__(self, work: Work, listener: socket.socket, count: int) -> None:
        # not forked: a fork would share connections to the store, and threads that it does not have
        self._context = multiprocessing.get_context("spawn")
        self._work = work
        self._listener = listener
        self._count = count
        self._workers: dict[BaseProcess, float] = {}
        self._asked: list[int] = []
        self._failures = 0

    def run(self) -> None:
        """Serve until told to stop. SIGHUP replaces the workers one by one. Raises WorkersFailed."""
        before = {one: signal.signal(one, self._hear) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
        self._listener.listen(BACKLOG)  # who comes before the first worker is ready waits
        try:
            for _ in range(self._count):
                self._start()
            while not {signal.SIGTERM, signal.SIGINT} & set(self._asked):
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

    def _hear(self, sig: int, _: FrameType | None) -> None:
        self._asked.append(sig)

    def _start(self) -> None:
        worker = self._context.Process(target=self._work, args=(self._listener,), name="faultwise-worker")
        worker.start()
        self._workers[worker] = time.monotonic()
        log.info("worker started pid=%d", worker.pid)

    def _replace(self) -> None:
        for worker, since in list(self._workers.items()):
            if worker.is_alive():
                continue
            del self._workers[worker]
            log.error("worker ended pid=%d code=%s", worker.pid, worker.exitcode)
            self._failures = self._failures + 1 if time.monotonic() - since < SHORT else 0
            if self._failures >= PATIENCE:
                raise WorkersFailed(f"{PATIENCE} workers ended as soon as they had started; the log says why")
            self._start()

    def _renew(self) -> None:
        for worker in list(self._workers):
            self._start()
            del self._workers[worker]
            worker.terminate()
            worker.join()

    def _end(self) -> None:
        for worker in self._workers:
            worker.terminate()
        for worker in self._workers:
            worker.join()
