"""The examples on the pages of the findings: each bad one has its finding and no other, each good one has none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from faultwise.engine.lint import CHECKS, lint
from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import SourceFile, Sources, collect
from faultwise.engine.problem import Problem

PAGES = Path(__file__).parents[3] / "docs" / "lint"
NOW = 1_767_225_600.0  # 2026-01-01
MEMO: dict[bytes, Any] = {}
# A rule that cannot fire, or that fails to be told apart, has no case that shows it firing.
ALSO = {"FW101": {"FW109"}, "FW103": {"FW109"}, "FW106": {"FW109"}, "FW112": {"FW109"}}


def examples(code: str, section: str) -> list[SourceFile]:
    """The files of one section of a page; the first line of each says whose it is and its name."""
    text = (PAGES / f"{code}.md").read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    made = []
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        whose, name = re.match(r"# (shipped|yours): (\S+)\n", block).groups()  # type: ignore[union-attr]
        made.append(SourceFile(name, block.encode(), 0 if whose == "shipped" else 1))
    return made


def findings(example: list[SourceFile]) -> list[Problem]:
    """What is found in an example that lies over the shipped policy."""
    base = tuple(file for file in collect().files if file.name == "rules/policy.yaml")
    sources = Sources((*base, *sorted(example, key=lambda file: file.rank)))
    names = {file.name for file in example}
    return [problem for problem in lint(sources, load(sources, MEMO), NOW) if problem.file in names]


@pytest.mark.parametrize("code", CHECKS)
def test_a_bad_example_has_the_finding(code: str) -> None:
    found = findings(examples(code, "Bad"))
    assert code in {problem.code for problem in found}
    assert {problem.code for problem in found} - {code} <= ALSO.get(code, set())


@pytest.mark.parametrize("code", CHECKS)
def test_a_good_example_has_no_finding(code: str) -> None:
    assert [str(problem) for problem in findings(examples(code, "Good"))] == []


@pytest.mark.parametrize("code", CHECKS)
def test_a_page_says_what_and_why_and_how_severe_it_is(code: str) -> None:
    text = (PAGES / f"{code}.md").read_text("utf-8")
    assert re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)[1:] == [
        "What",
        "Why",
        "Bad",
        "Good",
    ]
    severities = {problem.severity for problem in findings(examples(code, "Bad")) if problem.code == code}
    assert severities == set(re.findall(r"^Severity: (\w+)\.$", text, re.MULTILINE))


def test_every_check_has_a_page_and_every_page_a_check() -> None:
    assert {page.stem for page in PAGES.glob("FW*.md")} == set(CHECKS)
    index = (PAGES / "README.md").read_text("utf-8")
    assert set(re.findall(r"\((FW\d+)\.md\)", index)) == set(CHECKS)
