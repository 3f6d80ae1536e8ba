"""`test`: coverage and its gate, accuracy on labelled failures, mutation."""

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
  - {id: acme-a, why: It refills., status: [403], any: [used up, spent], reason: quota_exhausted}
  - {id: acme-b, why: It does not., status: [402], reason: credits_exhausted}
cases:
  - {name: used up, status: 403, body: {error: {message: used up}}, expect: {rule: acme-a}}
  - {name: plain, status: 403, body: {error: {message: no}}, expect: {not_rule: acme-a}}
"""
LABEL = {"reason": "quota_exhausted", "scope": "connection", "temporary": True, "fallback": True, "status": 429}
ROW = {"id": "a", "provider": "acme", "status": 403, "body": {"error": {"message": "spent"}}, "expected": LABEL}


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The words of `test` on one operator file and the shipped tables."""
    (tmp_path / "acme.yaml").write_text(RULES)
    return ["test", "--no-shipped", "--rules", str(shipped_root() / "policy.yaml"), str(tmp_path / "acme.yaml")]


def test_coverage_says_which_rules_fire(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--coverage"]) == 0
    out = capsys.readouterr().out
    assert "2 passed, 0 failed" in out
    assert "coverage 50.0 %" in out
    assert "  fired (1)\n       1 fired    1 vetoed  acme-a" in out
    assert "  never reached (1)\n       0 fired    0 vetoed  acme-b" in out
    assert "       2  403\n    none  402\n" in out
    assert "       1  quota_exhausted\n" in out


def test_coverage_below_the_gate_fails(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--min-coverage", "50"]) == 0
    assert main([*words, "--min-coverage", "51"]) == 1
    out, err = capsys.readouterr()
    assert "coverage 50.0 % is below 51 %" in err and "never reached" not in out


def test_accuracy_is_printed_for_labelled_failures(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [ROW, {**ROW, "status": 500}, {**ROW, "kind": "exploded"}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "\n")
    assert main([*words, "--corpus", str(tmp_path / "corpus.jsonl")]) == 0
    assert "four, lenient                   1/3     33.3%" in capsys.readouterr().out


def test_a_corpus_without_own_providers_is_read_as_if_from_strangers(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps(ROW))
    assert main([*words, "--corpus", str(tmp_path / "corpus.jsonl"), "--without-own-provider"]) == 0
    assert "four, lenient                   0/1      0.0%" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["{", "[1]", '{"status": 403}'])
def test_a_corpus_that_cannot_be_read_is_wrong_usage(
    line: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps(ROW) + "\n" + line)
    assert main([*words, "--corpus", str(tmp_path / "corpus.jsonl")]) == 2
    assert "line 2: " in capsys.readouterr().err
    assert main([*words, "--corpus", "/nowhere/at/all"]) == 2


def test_a_condition_that_no_case_holds_is_a_finding(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--mutate"]) == 1
    out, err = capsys.readouterr()
    assert "acme.yaml:5:56: FW032 no case notices `acme-a` without `spent` in `any`" in err
    assert "9 mutants, 7 that no case notices: 6 of 7 weakenings, 1 of 2 narrowings" in out
    assert main([*words, "--mutate", "--sample", "0"]) == 0


def test_failed_cases_are_annotations_where_a_code_host_reads_them(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "acme.yaml"
    file.write_text(RULES.replace("not_rule: acme-a", "rule: acme-a"))
    assert main([*words, "--format", "github"]) == 1
    out, err = capsys.readouterr()
    assert f"::error file={file},line=9,col=70,title=FW030::case `plain`: expected rule" in out and err == ""
    assert "1 passed, 1 failed" in out


def test_rules_that_do_not_load_are_told_in_the_format_asked_for(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme.yaml").write_text(RULES.replace("reason:", "reson:"))
    assert main([*words, "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=")
    assert main([*words, "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["cases"] == [] and {one["code"] for one in told["problems"]} == {"FW010"}


def test_a_sample_is_the_same_for_the_same_seed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def missed(seed: int) -> str:
        main([*words, "--mutate", "--sample", "1", "--seed", str(seed)])
        return capsys.readouterr().err

    assert missed(1) == missed(1)
    assert {bool(missed(seed)) for seed in range(12)} == {True, False}


def test_everything_is_there_as_json(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "corpus.jsonl").write_text(json.dumps(ROW))
    main([*words, "--coverage", "--mutate", "--corpus", str(tmp_path / "corpus.jsonl"), "--format", "json"])
    data = json.loads(capsys.readouterr().out)
    assert [case["ok"] for case in data["cases"]] == [True, True]
    assert data["coverage"]["percent"] == 50.0
    assert {rule["id"]: rule["state"] for rule in data["coverage"]["rules"]}["acme-b"] == "never reached"
    assert data["corpus"][0] == {"name": "four, lenient", "right": 1, "total": 1}
    assert (data["mutants"]["tried"], data["mutants"]["weakenings"], len(data["mutants"]["unnoticed"])) == (9, 7, 7)
