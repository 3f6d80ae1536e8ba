"""A failure described by options: the input of `classify` and `explain`."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from faultwise.engine.failure.intake import intake
from faultwise.engine.failure.record import AUTHS, BODY_LIMIT, PHASES, WIRES, Failure

PLAIN = (
    "provider",
    "model",
    "connection",
    "status",
    "phase",
    "kind",
    "stream",
    "auth",
    "wire",
    "host",
    "egress",
    "now",
)


def failure_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that describe one failure."""
    parser.add_argument("--provider", help="who answered")
    parser.add_argument("--model")
    parser.add_argument("--connection", help="id of the account")
    parser.add_argument("--status", help="HTTP status on the wire")
    parser.add_argument("--header", action="append", default=[], metavar="'K: V'", help="a response header; repeatable")
    parser.add_argument("--body", metavar="TEXT|@FILE|-", help="the response body, a file of it, or standard input")
    parser.add_argument("--phase", choices=PHASES)
    parser.add_argument("--kind", help="of a transport failure, such as refused or idle_timeout")
    parser.add_argument("--stream", choices=("sse-first", "sse-mid"), help="the body is the SSE text that was read")
    parser.add_argument("--auth", choices=AUTHS)
    parser.add_argument("--wire", choices=WIRES)
    parser.add_argument("--host")
    parser.add_argument("--egress")
    parser.add_argument("--request", metavar="TEXT|@FILE", help="what the client had sent, for the echo guard")
    parser.add_argument("--now", metavar="RFC3339", help="what time it was")


def plain(error: ValueError | OSError) -> str:
    """What is wrong with the input, for people; of a file its name first."""
    return f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)


def described(options: argparse.Namespace) -> Failure:
    """The failure the options describe. Raises ValueError or OSError where they do not."""
    row: dict[str, Any] = {key: getattr(options, key) for key in PLAIN if getattr(options, key) is not None}
    row["headers"] = [_header(line) for line in options.header]
    failure = intake({**row, "request": _text(options.request)}, time.time())
    body = _bytes(options.body)
    return failure if body is None else replace(failure, body=body[:BODY_LIMIT])


def _header(line: str) -> list[str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise ValueError(f"`--header`: expected `Name: value`, found `{line}`")
    return [name.strip(), value.strip()]


def _bytes(given: str | None) -> bytes | None:
    if given is None:
        return None
    if given == "-":
        return sys.stdin.buffer.read()
    return Path(given[1:]).read_bytes() if given.startswith("@") else given.encode("utf-8", "surrogateescape")


def _text(given: str | None) -> str | None:
    data = _bytes(given)
    return None if data is None else data.decode("utf-8", "replace")
