"""The command line: what each verb prints, where, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faultwise.server.cli import main

BAD = """\
faultwise: 1
kind: provider
provider: acme
rules:
  - id: acme-a
    statuss: [403]
    when: txt has "x"
    reason: quota_exhausted
"""
GOOD = """\
faultwise: 1
kind: provider
provider: acme
rules:
  - id: acme-a
    why: The day's credit is used up and comes back.
    status: [403]
    any: ["used up"]
    reason: quota_exhausted
cases:
  - {name: used up, status: 403, body: {error: {message: used up}}, expect: {reason: quota_exhausted, rule: acme-a}}
  - {name: plain, status: 403, body: {error: {message: no}}, expect: {not_rule: acme-a}}
"""


@pytest.fixture
def bad(tmp_path: Path) -> str:
    (tmp_path / "acme.yaml").write_text(BAD)
    return str(tmp_path / "acme.yaml")


@pytest.fixture
def good(tmp_path: Path) -> str:
    (tmp_path / "acme.yaml").write_text(GOOD)
    return str(tmp_path / "acme.yaml")


def test_wrong_usage_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["nothing"], ["classify", "--no-such-option"], ["schema", "nothing"]):
        try:
            code = main(words)
        except SystemExit as gone:
            code = gone.code
        assert code == 2, words


def test_check_prints_place_code_and_hint_to_stderr_and_exits_1(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", bad]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{bad}:6:5: FW010" in err and "did you mean `status`?" in err


def test_check_as_json_is_a_list_of_problems_on_stdout(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "json", bad]) == 1
    problems = json.loads(capsys.readouterr().out)
    assert {"file", "line", "column", "code", "message", "hint"} <= set(problems[0])
    assert (problems[0]["file"], problems[0]["line"]) == (bad, 6)


def test_check_for_a_code_host_is_an_annotation(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--format", "github", bad]) == 1
    assert capsys.readouterr().out.startswith(f"::error file={bad},line=6,col=5,title=FW010::")


def test_check_of_good_rules_exits_0(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", good]) == 0
    assert "no problems" in capsys.readouterr().out


def test_a_path_that_is_not_there_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "/nowhere/at/all"]) == 1
    assert "no such file or directory" in capsys.readouterr().err


def test_test_counts_cases_and_names_those_that_fail(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "--no-shipped", good]) == 0
    assert "2 passed, 0 failed" in capsys.readouterr().out
    Path(good).write_text(GOOD.replace("expect: {not_rule: acme-a}", "expect: {reason: unknown}"))
    assert main(["test", "--no-shipped", good]) == 1
    out, err = capsys.readouterr()
    assert "1 passed, 1 failed" in out
    assert f"{good}:12:" in err and "expected reason `unknown`, got `auth_error`" in err


def test_classify_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["classify", "--provider", "agentrouter", "--status", "403", "--body", "额度不足", "--connection", "a"])
        == 0
    )
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["status"], verdict["lock_key"], verdict["retry_after_s"]) == (429, "agentrouter/a", 60.0)


def test_classify_garbage_still_gives_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "body").write_bytes(bytes(range(256)) * 300)
    assert main(["classify", "--status", "500", "--body", f"@{tmp_path / 'body'}"]) == 0
    assert json.loads(capsys.readouterr().out)["reason"] == "server_error"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--status", "abc"], "`status`: `abc` is not an HTTP status"),
        ([], "`status`: missing"),
        (["--status", "403", "--header", "nonsense"], "expected `Name: value`"),
        (["--status", "403", "--now", "yesterday"], "`yesterday` is not an RFC 3339 time"),
        (["--status", "403", "--body", "@/nowhere/at/all"], "classify: /nowhere/at/all: No such file"),
        (["--kind", "exploded"], "`exploded` is none of"),
    ],
)
def test_classify_says_what_it_cannot_read(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", *words]) == 2
    assert message in capsys.readouterr().err


def test_classify_many_keeps_order_and_ids_and_reports_lines_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        '{"id": "a", "provider": "x", "status": 429, "other": 1}',
        "not json",
        '{"id": "b", "status": "no"}',
        "[" * 100_000,
        '{"id": "c", "kind": "refused"}',
        '{"id": "d", "status": 200, "stream": "sse-first", "body": "data: {\\"error\\": {\\"message\\": \\"x\\"}}\\n\\n"}',
    ]
    (tmp_path / "f.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["classify", "--jsonl", str(tmp_path / "f.jsonl")]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row.get("id") for row in rows] == ["a", None, "b", None, "c", "d"]
    assert ["error" in row for row in rows] == [False, True, True, True, False, False]
    assert rows[5]["phase"] == "stream_start"


def test_explain_shows_what_was_found_what_was_tried_and_where_numbers_come_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--provider", "agentrouter", "--status", "403", "--body", '{"error": {"message": "用户额度不足"}}']
    assert main(["explain", *words]) == 0
    text = capsys.readouterr().out
    for part in (
        "用户额度不足",
        "agentrouter-quota-misstated  matched",
        "403 -> 429",
        "cooldown          60 s (",
        "another target",
    ):
        assert part in text
    assert main(["explain", "--format", "json", *words]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"]["reason"] == "quota_exhausted"


def test_explain_names_the_first_condition_that_failed(good: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--rules", good, "--provider", "acme", "--status", "403", "--body", "no"]) == 0
    assert 'acme-a  0 of 1 conditions held, then not: text has any ["used up"]' in capsys.readouterr().out


def test_schema_lists_names_and_prints_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert "provider" in capsys.readouterr().out.split()
    assert main(["schema", "provider"]) == 0
    assert json.loads(capsys.readouterr().out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_serve_refuses_bad_rules_with_the_text_of_check(
    bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "gateway.yaml"
    config.write_text("faultwise: 1\nkind: gateway\nlisten: 127.0.0.1:0\nstate: memory://\n")
    assert main(["check", bad]) == 1
    told = capsys.readouterr().err
    assert main(["serve", "--config", str(config), "--rules", bad]) == 1
    assert told in capsys.readouterr().err


def test_serve_without_a_gateway_file_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--config", str(tmp_path / "none.yaml")]) == 2
    assert "no such gateway file" in capsys.readouterr().err


def test_the_demo_survives(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "HTTP 403" in out and "Survived." in out and "requests the relay saw: 1" in out


def test_without_a_verb_the_verbs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "run the proxy" in err


def test_explain_asks_whether_another_provider_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--provider", "agentruter", "--status", "403"]) == 0
    out, err = capsys.readouterr()
    assert "did you mean `agentrouter`?" in err and "did you mean" not in out
    assert main(["explain", "--provider", "a-relay-of-mine", "--status", "403"]) == 0
    assert capsys.readouterr().err == ""
