"""`faultwise schema`: the JSON Schemas of the files one writes, for editors and other tools."""

from __future__ import annotations

import argparse
import json
import sys

from faultwise.engine.policy.schema import NAMES, schema

from . import FINE, USAGE


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the verb."""
    parser.add_argument("name", nargs="?", help="which; without it, the names are listed")


def run(options: argparse.Namespace) -> int:
    """Print one schema, or their names."""
    if options.name is None:
        print("\n".join(NAMES))
        return FINE
    if options.name not in NAMES:
        print(f"faultwise schema: no schema `{options.name}`, one of {', '.join(NAMES)}", file=sys.stderr)
        return USAGE
    print(json.dumps(schema(options.name), ensure_ascii=False, indent=2))
    return FINE
