"""The pytest plugin, in runs of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwise.server.cli import main

ENV = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COVERAGE", "COV_"))}


def run(folder: Path, *words: str) -> tuple[int, str]:
    """pytest in a folder of its own, with the plugin."""
    named = () if _installed() else ("-p", "faultwise.server.plugin")
    command = [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    done = subprocess.run(
        [*command, *named, "-v", *words], cwd=folder, capture_output=True, text=True, check=False, env=ENV
    )
    return done.returncode, done.stdout + done.stderr


def _installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.value == "faultwise.server.plugin" for point in entry_points(group="pytest11"))


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Operator rules and YAML of other kinds."""
    assert main(["new", "provider", "acme", "--dir", str(tmp_path / "rules")]) == 0
    (tmp_path / "other.yaml").write_text("version: 1\nfaultwise: 1\n")
    (tmp_path / "notes.yaml").write_text("- one\n- two\n")
    (tmp_path / "gateway.yaml").write_text("faultwise: 1\nkind: gateway\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def test_every_case_is_a_test_and_other_yaml_is_not(folder: Path) -> None:
    code, out = run(folder)
    assert code == 0, out
    assert "rules/acme.yaml::the day's credit is used up, sent as 403 PASSED" in out
    assert "16 passed" in out


def test_a_case_of_several_texts_is_a_test_for_each_of_its_texts(folder: Path) -> None:
    file = folder / "rules" / "acme.yaml"
    more = "  - name: used up\n    status: 403\n    each:\n      - Daily credit used up\n      - All is used up\n"
    file.write_text(f"{file.read_text().rstrip()}\n{more}    expect: {{rule: acme-quota-used-up}}\n")
    line = len(file.read_text().splitlines()) - 1
    code, out = run(folder, "rules")
    assert code == 1
    assert "rules/acme.yaml::used up [Daily credit used up] PASSED" in out
    assert f"acme.yaml:{line}:9: FW030 case `used up [All is used up]`: expected rule `acme-quota-used-up`" in out


def test_a_case_that_fails_shows_what_faultwise_test_prints(folder: Path) -> None:
    file = folder / "rules" / "acme.yaml"
    file.write_text(file.read_text().replace("retry_after: 10m, restated", "retry_after: 20m, restated"))
    code, out = run(folder, "rules")
    assert code == 1
    line = next(at for at, text in enumerate(file.read_text().splitlines(), 1) if "retry_after: 20m, restated" in text)
    assert (
        f"acme.yaml:{line}:13: FW030 case `the day's credit is used up, sent as 403`: expected retry_after 1200 s"
        in out
    )
    assert "Traceback" not in out and "1 failed, 15 passed" in out


def test_rules_that_do_not_load_are_an_error_of_the_run(folder: Path) -> None:
    file = folder / "rules" / "acme.yaml"
    file.write_text(file.read_text().replace("reason: quota_exhausted  ", "reason: quota_exausted  "))
    code, out = run(folder, "rules")
    assert code == 2
    assert "FW021 unknown reason `quota_exausted`" in out


def test_files_of_one_set_are_loaded_together_wherever_one_is_named(folder: Path) -> None:
    (folder / "rules" / "policy.yaml").write_text("faultwise: 1\nkind: policy\nmarkers: {own: [flux drained]}\n")
    (folder / "rules" / "providers").mkdir()
    (folder / "rules" / "providers" / "zeta.yaml").write_text(
        "# comments first\n---\nfaultwise: 1\nkind: provider\nprovider: zeta\n"
        "rules:\n  - {id: zeta-a, status: [403], any: ['@own'], reason: quota_exhausted}\n"
        "cases:\n"
        "  - {name: same, status: 403, body: {error: {message: flux drained}}, expect: {rule: zeta-a}}\n"
        "  - {name: same, status: 403, expect: {not_rule: zeta-a}}\n"
    )
    code, out = run(folder, "rules/providers/zeta.yaml")
    assert code == 0, out
    assert "zeta.yaml::same PASSED" in out and "zeta.yaml::same (2) PASSED" in out and "2 passed" in out


def test_the_set_can_be_named_in_the_configuration(folder: Path) -> None:
    (folder / "base").mkdir()
    (folder / "base" / "p.yaml").write_text(
        "faultwise: 1\nkind: policy\nreasons: {zork: {fault: account, temporary: true, fallback: true, wait_ok: false, lock: connection, status: 429}}\n"
    )
    file = folder / "rules" / "acme.yaml"
    file.write_text(file.read_text().replace("quota_exhausted", "zork"))
    assert run(folder, "rules")[0] == 2
    (folder / "pytest.ini").write_text("[pytest]\nfaultwise_rules = base rules\n")
    assert run(folder, "rules")[0] == 0


def test_whole_verdicts_are_pinned_where_that_is_asked_for(folder: Path) -> None:
    file = folder / "rules" / "acme.yaml"
    assert run(folder, "rules", "--faultwise-snapshots", "--snapshot-update")[0] == 0
    pinned = (folder / "rules" / "__snapshots__" / "acme.ambr").read_text()
    assert "'cooldown_s': 600.0" in pinned and "policy" not in pinned
    assert run(folder, "rules", "--faultwise-snapshots")[0] == 0
    file.write_text(
        "# faultwise: snapshots\n"
        + file.read_text().replace("    reason: quota_exhausted  ", "    wait_ok: true\n    reason: quota_exhausted  ")
    )
    code, out = run(folder, "rules")
    assert code == 1
    assert "-   'wait_ok': False" in out and "+   'wait_ok': True" in out


def test_the_engine_is_not_imported_before_a_rule_file_is_met(folder: Path) -> None:
    (folder / "test_one.py").write_text(
        "import sys\n\ndef test_one():\n    assert not [n for n in sys.modules if n.startswith('faultwise.engine')]\n"
    )
    code, out = run(folder, "test_one.py")
    assert code == 0, out


def test_the_shipped_catalogue_is_its_own_set() -> None:
    from faultwise.engine.policy.source import shipped_root

    code, out = run(shipped_root().resolve().parent, str(shipped_root().resolve() / "general"), "-q", "-c", os.devnull)
    assert code == 0, out[-2000:]
    assert "passed" in out
