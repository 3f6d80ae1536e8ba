"""The built wheel holds everything under one name."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = out.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_installs_one_top_name(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"faultwise"}


def test_the_wheel_holds_every_rule_schema_grammar_and_module(names: set[str]) -> None:
    for pattern in (
        "rules/**/*.yaml",
        "schemas/*.json",
        "dsl/*.lark",
        "dsl/**/*.py",
        "engine/**/*.py",
        "server/**/*.py",
    ):
        for path in ROOT.glob(pattern):
            assert f"faultwise/{path.relative_to(ROOT)}" in names
    assert "faultwise/py.typed" in names
