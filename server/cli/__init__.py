"""The `faultwise` command, one module a verb.

A verb's module has `arguments(parser)` and `run(options) -> exit code`; it is imported only when it is asked for, so
that `check` does not wait for a web framework.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from faultwise import __version__

VERBS = {
    "serve": "run the proxy",
    "demo": "see a misstated quota survived, with two fake upstreams and no keys",
    "check": "hold rule files against schemas, types and lint",
    "test": "run the cases written beside the rules",
    "classify": "say what a failure is: one verdict, or one a line",
    "explain": "show how a verdict came about",
    "replay": "decide recorded failures again with the rules of now",
    "diff": "compare two sets of rules, and the decisions they make",
    "unmatched": "gather the failures that no rule knows, with a rule to begin with for each",
    "new": "write a commented starter file for a provider, or make a key for a client",
    "locks": "list what is closed, of a running server or a stopped one's file",
    "reset": "open what is closed by hand",
    "lock": "close a connection by hand, to drain it",
    "schema": "print a JSON Schema",
}
FINE, FINDINGS, USAGE = 0, 1, 2  # exit codes


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="faultwise", description="The truth about upstream LLM failures.")
    parser.add_argument("--version", action="version", version=f"faultwise {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    asked = next((word for word in words if not word.startswith("-")), None)
    for name, line in VERBS.items():
        verb = verbs.add_parser(name, help=line, description=line)
        if name == asked:
            import_module(f"{__name__}.{name}").arguments(verb)
    if not words:
        parser.print_help(sys.stderr)
        return USAGE
    options = parser.parse_args(words)
    try:
        code: int = import_module(f"{__name__}.{options.verb}").run(options)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone, as with `| head`: nothing is left to say
        return FINE
    except KeyboardInterrupt:
        return 130
    return code
