"""The workers of one server to one another. Each also listens on a socket of its own, in a folder that nobody else can
enter, and answers there what it is asked for alone; whoever was asked from outside asks all.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import httpx

log = logging.getLogger("faultwise.server")
MARK = "x-faultwise-sibling"  # on what one worker asks another
PATIENCE = 60.0  # seconds for an answer


class Siblings:
    """Belongs to one worker. `folder`: where all have their sockets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = folder / str(os.getpid())

    def listen(self) -> socket.socket:
        """The socket of this worker."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        made.bind(str(self._own))
        return made

    def leave(self) -> None:
        """Be asked no more."""
        self._own.unlink(missing_ok=True)

    async def ask(
        self, method: str, path: str, token: str, headers: Mapping[str, str] | None = None
    ) -> dict[int, httpx.Response | None]:
        """What each of the others answers, by process; None for one that did not. Who does not serve yet is left out."""
        sent = {MARK: "1", **({"authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        found: dict[int, httpx.Response | None] = {}

        async def one(where: Path) -> None:
            async with httpx.AsyncClient(
                transport=httpx.AsyncHTTPTransport(uds=str(where)), timeout=PATIENCE
            ) as client:
                try:
                    found[int(where.name)] = await client.request(method, f"http://localhost{path}", headers=sent)
                except httpx.ConnectError:  # it does not serve yet, or is gone
                    _forget(where)
                except httpx.HTTPError as error:
                    log.warning("worker pid=%s does not answer: %r", where.name, error)
                    found[int(where.name)] = None

        await asyncio.gather(*(one(where) for where in self._folder.iterdir() if where != self._own))
        return found


def _forget(where: Path) -> None:
    """Take away what a worker left that was ended by force."""
    try:
        os.kill(int(where.name), 0)
    except ProcessLookupError:
        with suppress(OSError):
            where.unlink()
    except OSError:
        return
