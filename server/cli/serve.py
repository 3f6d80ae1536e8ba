"""`faultwise serve`: the proxy, its decision service, and reload."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from faultwise.engine.problem import PolicyError, Problem
from faultwise.server.serve import log_to
from faultwise.server.serve import run as serve
from faultwise.server.workers import WorkersFailed

from . import FINDINGS, FINE, USAGE
from .output import report
from .sources import source_arguments


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("--config", metavar="FILE", help="the gateway file (default: gateway.yaml where there is one)")
    parser.add_argument("--host", help="address to listen on, over the file's")
    parser.add_argument("--port", type=int, help="port to listen on, over the file's")
    parser.add_argument("--workers", type=int, help="processes that serve, over the file's; they share the store")
    source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until told to stop; 1 where the configuration or the rules are wrong."""
    config = Path(options.config) if options.config else Path("gateway.yaml")
    if not config.exists():
        hint = "name one with --config; `faultwise demo` needs none"
        report([Problem(str(config), 0, 0, "FW001", "no such gateway file", hint)])
        return USAGE
    log_to()
    try:
        serve(
            config,
            rules=[Path(path) for path in options.rules],
            shipped=not options.no_shipped,
            overrides=_overrides(options),
            environ=os.environ,
        )
    except PolicyError as error:
        report(error.problems)
        return FINDINGS
    except WorkersFailed as error:
        print(f"faultwise: {error}", file=sys.stderr)
        return FINDINGS
    return FINE


def _overrides(options: argparse.Namespace) -> dict[str, str]:
    found = {} if options.workers is None else {"workers": str(options.workers)}
    if options.host is None and options.port is None:
        return found
    host = options.host or "127.0.0.1"
    return found | {
        "listen": f"{f'[{host}]' if ':' in host else host}:{4290 if options.port is None else options.port}"
    }
