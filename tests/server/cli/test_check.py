"""`check`: findings of the linter, gateway files, and what is limited to the paths given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faultwise.engine.policy.source import shipped_root
from faultwise.server.cli import main

RULES = """\
faultwise: 1
kind: provider
provider: acme
rules:
  - id: acme-a
    status: [403]
    any: ["used up"]
    reason: quota_exhausted
cases:
  - {name: used up, status: 403, body: {error: {message: used up}}, expect: {rule: acme-a}}
  - {name: plain, status: 403, body: {error: {message: no}}, expect: {not_rule: acme-a}}
"""
GATEWAY = """\
faultwise: 1
kind: gateway
connections:
  - {id: a, provider: acme, base_url: "${ACME_URL}/v1", secret: "${ACME_KEY}"}
combos:
  coding: {targets: [{connection: a, model: m}]}
"""
ALONE = ["--no-shipped", "--rules", str(shipped_root() / "policy.yaml")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("FAULTWISE_RULES", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "acme.yaml").write_text(RULES)
    return tmp_path


def test_a_warning_is_printed_and_fails_only_when_strict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "rules"]) == 0
    out, err = capsys.readouterr()
    assert "rules/acme.yaml:5:9: FW114 warning: " in err
    assert out.endswith("cases: 1 warning\n")
    assert main(["check", "--strict", "rules"]) == 1


def test_an_error_of_the_linter_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = RULES.replace('any: ["used up"]', 'any: ["used up"]\n    none: ["used up"]')
    (folder / "rules" / "acme.yaml").write_text(text)
    assert main(["check", "rules"]) == 1
    out, err = capsys.readouterr()
    assert "FW106" in err and out == ""


def test_with_paths_findings_in_other_files_are_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rules" / "acme.yaml").write_text(RULES.replace("id: acme-a", "id: acme-a\n    why: It refills."))
    (folder / "shipped").mkdir()
    main(["check", "--format", "json", "rules"])
    assert {one["file"] for one in json.loads(capsys.readouterr().out)} <= {"rules/acme.yaml"}


def test_a_gateway_file_among_the_paths_is_held_against_its_own_rules(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gateway.yaml").write_text(GATEWAY)
    assert main(["check", *ALONE, "gateway.yaml"]) == 0
    (folder / "gateway.yaml").write_text(GATEWAY.replace("connection: a", "connection: b"))
    assert main(["check", *ALONE, "gateway.yaml"]) == 1
    err = capsys.readouterr().err
    assert "gateway.yaml:6:35: FW063 combo `coding`: unknown connection `b`\n    help: known: a\n" in err


def test_a_variable_that_is_not_set_is_a_warning_however_strict(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gateway.yaml").write_text(GATEWAY)
    monkeypatch.setenv("ACME_URL", "https://acme.example")
    assert main(["check", "--strict", "--no-shipped", "gateway.yaml"]) == 0
    out, err = capsys.readouterr()
    assert err == (
        "gateway.yaml:4:66: FW060 warning: the variable `ACME_KEY` is not set\n"
        "    help: set ACME_KEY in the environment, or use `${file:/path}`\n"
    )
    assert out.endswith("1 warning\n")
    monkeypatch.setenv("ACME_KEY", "s3cr3t")
    assert main(["check", "--strict", "--no-shipped", "gateway.yaml"]) == 0
    assert capsys.readouterr().err == ""


def test_without_paths_the_gateway_file_here_is_checked_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gateway.yaml").write_text(GATEWAY.replace("connection: a", "connection: b"))
    assert main(["check", *ALONE]) == 1
    assert "gateway.yaml:6:35: FW063 " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("provider", "meant"), [("acmee", "acme"), ("ACME", None), ("a-relay-of-mine", None), ("${ACME_URL}", None)]
)
def test_a_provider_that_is_called_nearly_like_a_known_one_is_a_warning(
    folder: Path, capsys: pytest.CaptureFixture[str], provider: str, meant: str | None
) -> None:
    (folder / "gateway.yaml").write_text(GATEWAY.replace("provider: acme", f'provider: "{provider}"'))
    assert main(["check", *ALONE, "gateway.yaml", "rules"]) == 0
    err = capsys.readouterr().err
    assert ("FW071" in err) is (meant is not None)
    if meant:
        assert "gateway.yaml:4:23: FW071 warning: no rule file is about the provider `acmee`" in err
        assert "help: did you mean `acme`?" in err


def test_the_nearest_connection_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GATEWAY.replace("{id: a,", "{id: relay-one,").replace("connection: a", "connection: relay-on")
    (folder / "gateway.yaml").write_text(text)
    assert main(["check", *ALONE, "gateway.yaml"]) == 1
    assert "unknown connection `relay-on`\n    help: did you mean `relay-one`?" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "github"])
def test_form_and_expressions_of_all_files_are_reported_in_one_pass(
    folder: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    (folder / "rules" / "acme.yaml").write_text(RULES.replace("reason:", "reson:"))
    (folder / "rules" / "other.yaml").write_text(
        RULES.replace("acme", "other").replace('any: ["used up"]', "when: txt == 1")
    )
    assert main(["check", *ALONE, "--format", form, "rules"]) == 1
    said = "".join(capsys.readouterr())
    for code in ("FW010", "FW020"):
        assert code in said


def test_a_gateway_file_beside_rules_is_no_rule_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gateway.yaml").write_text(GATEWAY + "rules: [rules]\nconections: []\n")
    assert main(["check", *ALONE, "."]) == 1
    err = capsys.readouterr().err
    assert "gateway.yaml:8:1: FW010" in err and "did you mean `connections`?" in err
    assert "FW022" not in err


def test_the_rules_a_gateway_file_names_are_checked_with_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gateway.yaml").write_text(GATEWAY + "rules: rules\n")
    (folder / "rules" / "acme.yaml").write_text(RULES.replace("quota_exhausted", "quota_exausted"))
    for paths in (["gateway.yaml"], []):
        assert main(["check", *ALONE, *paths]) == 1
        assert "rules/acme.yaml:8:13: FW021 unknown reason `quota_exausted`" in capsys.readouterr().err


def test_a_file_that_placeholders_name_may_be_missing_where_it_is_checked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gateway.yaml").write_text(GATEWAY.replace("${ACME_KEY}", "${file:key.txt}"))
    assert main(["check", *ALONE, "gateway.yaml"]) == 0
    assert "FW060 warning: " in capsys.readouterr().err


def test_files_of_the_environment_count_where_no_path_is_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAULTWISE_RULES", "nowhere")
    assert main(["check"]) == 1
    assert "nowhere: FW001" in capsys.readouterr().err
    assert main(["check", *ALONE, "rules"]) == 0


def test_a_file_that_is_called_like_a_shipped_one_is_told_apart(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "rules" / "acme.yaml").unlink()
    (folder / "rules" / "policy.yaml").write_text(
        "faultwise: 1\nkind: policy\nmarkers: {unused_words: [flux drained]}\n"
    )
    assert main(["check", "rules"]) == 0
    err = capsys.readouterr().err
    assert err.count("rules/policy.yaml:") == 1 and "rules/policy.yaml:3:11: FW111" in err
