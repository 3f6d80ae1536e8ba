"""`new provider`: a file that passes everything as it is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from faultwise.server.cli import main


def test_the_starter_passes_the_strictest_check_and_its_cases(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "my-rules")
    assert main(["new", "provider", "acme.example", "--dir", folder]) == 0
    out = capsys.readouterr().out
    assert f"wrote {folder}/acme.example.yaml" in out and f"faultwise check --strict {folder}" in out
    assert main(["check", "--strict", folder]) == 0
    capsys.readouterr()
    assert main(["test", "--mutate", folder]) == 0, "a case holds every condition"
    first = (tmp_path / "my-rules" / "acme.example.yaml").read_text().splitlines()[0]
    named = tmp_path / "my-rules" / first.partition("$schema=")[2]
    assert json.loads(named.read_text())["title"] == "Provider"


def test_a_base_is_named_and_has_to_exist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "provider", "Acme/One", "--dir", str(tmp_path), "--base", "groq"]) == 0
    assert "extends: groq " in (tmp_path / "acme-one.yaml").read_text()
    assert main(["new", "provider", "other", "--dir", str(tmp_path), "--base", "groqq"]) == 2
    assert "unknown base `groqq`, did you mean `groq`?" in capsys.readouterr().err
    assert not (tmp_path / "other.yaml").exists()


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "acme.yaml").write_text("mine")
    assert main(["new", "provider", "acme", "--dir", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "acme.yaml").read_text() == "mine"


def test_what_cannot_be_written_or_named_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["new", "provider", "acme", "--dir", str(tmp_path / "file")]) == 2
    assert main(["new", "provider", "a b"]) == 2
    assert "`a b` is no name" in capsys.readouterr().err


def test_a_key_is_shown_once_with_the_row_that_lets_it_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "key", "alice"]) == 0
    out, err = capsys.readouterr()
    key = out.strip()
    assert key.startswith("fw-") and len(key) > 30 and key not in err
    row = f'  - {{id: "alice", hash: sha256:{hashlib.sha256(key.encode()).hexdigest()}}}'
    assert err.endswith(f"keys:\n{row}\n")
    assert main(["new", "key", "alice"]) == 0
    assert capsys.readouterr().out.strip() != key
