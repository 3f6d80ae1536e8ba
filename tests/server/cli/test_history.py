"""`replay`, `diff` and `unmatched`: recorded failures and the rules of now."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from faultwise.engine.policy.source import shipped_root
from faultwise.server.cli import main, pool

RULES = """\
faultwise: 1
kind: provider
provider: acme
rules:
  - {id: acme-a, why: It refills., status: [403], any: [used up], reason: quota_exhausted}
"""
POLICY = str(shipped_root() / "policy.yaml")
ALONE = ["--no-shipped", "--rules", POLICY]
SIDES = ["--no-shipped", POLICY, f"{POLICY}{os.pathsep}rules"]
FAILURE = {"id": "a", "provider": "acme", "status": 403, "body": {"error": {"message": "used up"}}}
ROWS = [
    FAILURE,
    {**FAILURE, "id": "b", "verdict": {"reason": "auth_error", "cooldown_s": 120.0, "rule": "default-403"}},
    {**FAILURE, "id": "c", "verdict": {"reason": "quota_exhausted"}},
    {"id": "d", "provider": "acme", "status": 400, "body": {"error": {"message": "flux 12 drained"}}},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "acme.yaml").write_text(RULES)
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def test_replay_sums_up_what_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "log.jsonl", *ALONE, "--rules", "rules"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "4 failures, 2 compared, 1 decided differently",
        "        1  cooldown     a wait -> a longer one",
        "        1  reason       auth_error -> quota_exhausted",
    ]


def test_replay_shows_rows_and_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["replay", "log.jsonl", *ALONE, "--rules", "rules", "--rows"]
    assert main(words) == 0
    assert (
        "line 2 (b)  acme 403  reason auth_error -> quota_exhausted; cooldown_s 120 -> 3600" in capsys.readouterr().out
    )
    assert main([*words, "--format", "json"]) == 0
    row, tally = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["id"], tally["changed"]) == ("b", 1)


def test_a_log_without_verdicts_is_summed_up_by_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "log.jsonl").write_text(json.dumps(FAILURE))
    assert main(["replay", "log.jsonl", *ALONE]) == 0
    assert "no line has a recorded `verdict`" in (out := capsys.readouterr().out) and "1  auth_error" in out


def test_lines_that_cannot_be_read_are_counted_shown_and_never_fatal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "log.jsonl").open("a") as log:
        log.write("nonsense\n" * 20 + "x" * 5_000_000 + "\n" + json.dumps(FAILURE) + "\n")
    assert main(["replay", "log.jsonl", *ALONE]) == 1
    out, err = capsys.readouterr()
    assert "26 failures" in out and "21 lines could not be read" in out
    assert err.count("cannot be read") == 10 and "log.jsonl:5: cannot be read: Expecting value" in err


@pytest.mark.parametrize(
    "words", [["replay", "/nowhere"], ["unmatched", "/nowhere"], ["diff", ".", ".", "--log", "/no"]]
)
def test_a_log_that_is_not_there_is_wrong_usage(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *(ALONE if words[0] != "diff" else [])]) == 2
    assert "No such file" in capsys.readouterr().err


def test_many_parts_are_done_by_several_processes_and_stay_in_order(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "ALONE", 1)
    row = {**FAILURE, "verdict": {"reason": "unknown"}}
    (folder / "log.jsonl").write_text("".join(json.dumps({**row, "id": str(n)}) + "\n" for n in range(4001)))
    assert main(["replay", "log.jsonl", *ALONE, "--rules", "rules", "--jobs", "2", "--rows", "--format", "json"]) == 0
    *rows, tally = map(json.loads, capsys.readouterr().out.splitlines())
    assert [row["number"] for row in rows] == list(range(1, 4002))
    assert tally["changed"] == 4001


def test_diff_names_entries_and_exits_1_on_changes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--no-shipped", SIDES[2], SIDES[2]]) == 0
    assert "the rules are the same" in capsys.readouterr().out
    assert main(["diff", *SIDES, "--log", "log.jsonl", "--rows"]) == 1
    out = capsys.readouterr().out
    assert "added    rule acme/acme-a" in out
    assert "line 1 (a)  acme 403  reason auth_error -> quota_exhausted" in out
    assert "4 failures, 4 compared, 3 decided differently" in out


def test_diff_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *SIDES, "--log", "log.jsonl", "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert {"entry": "rule acme/acme-a", "what": "added", "keys": []} in data["rules"]
    assert data["decisions"]["changed"] == 3


def test_a_side_that_does_not_load_is_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "nowhere", "rules"]) == 2
    assert "nowhere: FW001" in capsys.readouterr().err


def test_unmatched_gathers_and_gives_a_rule_that_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["unmatched", "log.jsonl", *ALONE, "--rules", "rules"]
    assert main([*words, "--provider", "Acme"]) == 0
    text = capsys.readouterr().out
    assert "# 1 of 4 failures no rule knows, 1 kind\n" in text
    assert "#      1  acme  400  -  flux <n> drained" in text
    (folder / "next").mkdir()
    (folder / "next" / "acme.yaml").write_text(text)
    assert main(["test", *ALONE, "next"]) == 0
    assert main([*words, "--rules", "next"]) == 0
    assert "# 0 of 4 failures no rule knows" in capsys.readouterr().out


def test_unmatched_leaves_out_the_rare_and_is_there_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "log.jsonl").open("a") as log:
        log.write("nonsense\n")
    assert main(["unmatched", "log.jsonl", *ALONE, "--min", "2", "--format", "json"]) == 1
    out, err = capsys.readouterr()
    (group,) = json.loads(out)
    assert (group["count"], group["first_line"], group["message"]) == (3, 1, "used up")
    assert 'any: ["used up"]' in group["starter"] and "1 lines could not be read" in err
    assert main(["unmatched", "log.jsonl", *ALONE, "--min", "9"]) == 1
    assert "rules:" not in capsys.readouterr().out


def test_unmatched_may_be_written_into_the_rules_it_reads(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "rules" / "other.yaml").write_text("")  # as the shell does before the command runs
    assert main(["unmatched", *ALONE, "--rules", "rules", "log.jsonl"]) == 0
    assert "provider: " in capsys.readouterr().out
