"""Imports point one way, and the core touches no clock, chance, socket or web framework."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ALLOWED = {"dsl": {"dsl"}, "engine": {"dsl", "engine"}, "server": {"dsl", "engine", "server"}}
OUTER = {
    "time",
    "random",
    "secrets",
    "socket",
    "ssl",
    "asyncio",
    "threading",
    "httpx",
    "aiohttp",
    "fastapi",
    "starlette",
    "uvicorn",
}
STORES = ROOT / "engine" / "store"  # the one place in the engine that does I/O
FILES = sorted(path for folder in ALLOWED for path in (ROOT / folder).rglob("*.py"))


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_from_server_to_engine_to_dsl(path: Path) -> None:
    folder = path.relative_to(ROOT).parts[0]
    for name in imports(path):
        parts = name.split(".")
        assert parts[0] not in ALLOWED, f"{name}: import it as faultwise.{name}"
        if parts[0] == "faultwise" and parts[1] in ALLOWED:
            assert parts[1] in ALLOWED[folder], name


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if "server" not in path.relative_to(ROOT).parts[0]],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_core_is_handed_its_clock_chance_and_io(path: Path) -> None:
    if not path.is_relative_to(STORES):
        assert not {name.split(".")[0] for name in imports(path)} & OUTER


def test_the_guard_itself_sees_an_import(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("import time\nfrom faultwise.server import app\n")
    assert imports(tmp_path / "x.py") == {"time", "faultwise.server.app"}
