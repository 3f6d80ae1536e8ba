"""The state of a running server (`--url`, or what its gateway file says; token in `FAULTWISE_ADMIN_TOKEN`) or of a stopped
one's file (`--file`).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx

from faultwise.engine.policy.source import SourceFile
from faultwise.engine.state.lock import MODEL_SCOPES
from faultwise.engine.state.state import State
from faultwise.engine.store.sqlite import Sqlite
from faultwise.server.layers import address, variable

from .sources import GATEWAY, listens

URL = "http://127.0.0.1:4290"
TOKEN = "FAULTWISE_ADMIN_TOKEN"
PATIENCE = 10.0  # seconds for an answer, or for a write


class Unreachable(Exception):
    """There is no state to be had. The message is for the operator."""


class Reached(Protocol):
    """The state, wherever it is."""

    def health(self) -> Mapping[str, Any]:
        """What `/api/monitoring/health` shows."""

    def reset(self, wanted: Mapping[str, Any]) -> list[str]:
        """Open what is named; the keys that were cleared. Nothing named means everything."""

    def lock(self, connection: str, until: float | None) -> Mapping[str, Any]:
        """Close a connection by hand."""


def reach_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that say whose state it is."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--url", help=f"address of a running server (default: as its gateway file says); token in {TOKEN}"
    )
    where.add_argument("--config", metavar="FILE", help=f"the gateway file that says it (default: {GATEWAY} here)")
    where.add_argument("--file", metavar="FILE", help="the SQLite file of a stopped server")


@contextmanager
def reach(options: argparse.Namespace) -> Iterator[Reached]:
    """The state the options name. Raises Unreachable."""
    if options.file is None:
        headers = {"authorization": f"Bearer {token}"} if (token := os.environ.get(TOKEN)) else {}
        url, said_by = (options.url, "") if options.url is not None else _address(options.config)
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, trust_env=False) as client:
            yield Running(client, said_by)
        return
    path = Path(options.file)
    if not path.is_file():
        raise Unreachable(f"no such file: {path}")
    store = Sqlite(path)
    try:
        health = store.health()
        if health.status != "ok" or health.set_aside is not None:
            raise Unreachable(f"{path} cannot be used: {health.error or 'it is damaged'}")
        yield Stopped(State(store))
    finally:
        store.close()


def _address(config: str | None) -> tuple[str, str]:
    """Where a server listens, and who says so: the environment, else a gateway file. Raises Unreachable."""
    name = variable("listen")
    if os.environ.get(name):
        return _url(os.environ[name], name)
    file = Path(config or GATEWAY)
    if config is None and not file.is_file():
        return URL, f"the default: there is no {GATEWAY} here"
    try:
        found = listens(SourceFile(str(file), file.read_bytes(), 1))
    except OSError as error:
        raise Unreachable(f"{file}: {error.strerror}") from None
    return _url(found, str(file)) if found is not None else (URL, f"the default: {file} names no `listen`")


def _url(listen: str, source: str) -> tuple[str, str]:
    try:
        host, _, port = address(listen).rpartition(":")
    except ValueError as error:
        raise Unreachable(f"{source}: `listen`: {error}; name the server with --url") from None
    if port == "0":
        raise Unreachable(f"{source}: `listen`: the port is chosen when the server starts; name it with --url")
    here = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}
    return f"http://{here.get(host, host)}:{port}", f"from {source}"


class Running:
    """A server that is asked. `said_by`: where its address is from, if not from the command line."""

    def __init__(self, client: httpx.Client, said_by: str = "") -> None:
        self._client = client
        self._name = str(client.base_url) + (f" ({said_by})" if said_by else "")

    def health(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._ask("GET", "/api/monitoring/health")
        return found

    def reset(self, wanted: Mapping[str, Any]) -> list[str]:
        cleared: list[str] = self._ask("POST", "/api/resilience/reset", wanted or {"all": True})["cleared"]
        return cleared

    def lock(self, connection: str, until: float | None) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._ask("POST", "/api/resilience/lock", {"connection": connection, "until": until})
        return found

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        try:
            answer = self._client.request(method, path, json=body)
            found = answer.json()
        except httpx.HTTPError as error:
            hint = "is it running? --url, --config or --file name another"
            raise Unreachable(f"{self._name}: {_plain(error)}\n    help: {hint}") from None
        except ValueError:
            raise Unreachable(f"{self._name}: this is no Faultwise server") from None
        if not isinstance(found, (dict, list)) or answer.status_code >= 400:
            detail = found.get("detail") if isinstance(found, dict) else None
            raise Unreachable(f"{self._name}: {detail or f'this is no Faultwise server: HTTP {answer.status_code}'}")
        return found


class Stopped:
    """A file that nobody serves from. A server that does would notice."""

    def __init__(self, state: State) -> None:
        self._state = state

    def health(self) -> Mapping[str, Any]:
        active = [lock.to_json() for lock in self._state.locks.active(time.time())]
        return {
            "breakers": [one.to_json() for one in self._state.circuits.table if not one.calm],
            "gates": [one.to_json() for one in self._state.gates.table if not one.calm],
            "connections": [one for one in active if one["scope"] not in MODEL_SCOPES],
            "lockouts": [one for one in active if one["scope"] in MODEL_SCOPES],
        }

    def reset(self, wanted: Mapping[str, Any]) -> list[str]:
        cleared = self._state.clear(time.time(), **wanted)
        self._written()
        return cleared

    def lock(self, connection: str, until: float | None) -> Mapping[str, Any]:
        held = self._state.hold(connection, "", until, time.time())
        self._written()
        return held.to_json()

    def _written(self) -> None:
        if not self._state.store.flush(PATIENCE):
            raise Unreachable(f"the file could not be written: {self._state.store.health().error}")


def _plain(error: httpx.HTTPError) -> str:
    """What a transport says, without its number."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def complain(error: Unreachable) -> int:
    """Say why there is no state; the exit code."""
    print(f"faultwise: {error}", file=sys.stderr)
    return 2
