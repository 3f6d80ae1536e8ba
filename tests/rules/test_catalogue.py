"""The shipped catalogue: every rule is explained, fires in a case, and has a near miss; the corpus score is held."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from faultwise.engine.cases import run_cases
from faultwise.engine.policy.policy import Policy


def written(policy: Policy) -> dict[str, str]:
    """Every shipped rule and restatement, by id, with its `why`."""
    providers = [one for name, one in policy.providers.items() if name == one.name]
    rules = [rule for one in providers for rule in (*one.restatements, *one.rules)]
    return {rule.id: rule.why for rule in (*rules, *policy.general)}


def test_every_rule_says_why(shipped: Policy) -> None:
    assert [name for name, why in written(shipped).items() if not why] == []


def test_every_rule_fires_in_a_case(shipped: Policy) -> None:
    verdicts = [result.verdict for result in run_cases(shipped) if result.verdict is not None]
    fired = {verdict.rule for verdict in verdicts} | {verdict.restated_by for verdict in verdicts}
    assert sorted(set(written(shipped)) - fired) == []


def test_every_rule_has_a_near_miss(shipped: Policy) -> None:
    missed: set[str] = set()
    for case in shipped.cases:
        near = case.data["expect"].get("not_rule", ())
        missed |= {near} if isinstance(near, str) else set(near)
    assert sorted(set(written(shipped)) - missed) == []


def test_no_case_names_a_rule_that_is_not_there(shipped: Policy) -> None:
    known = set(written(shipped))
    for case in shipped.cases:
        near = case.data["expect"].get("not_rule", ())
        named = {near} if isinstance(near, str) else set(near)
        assert named <= known, f"{case.origin}: {sorted(named - known)}"


def test_the_score_on_labelled_failures_is_held(tmp_path: Path) -> None:
    corpus = os.environ.get("FAULTWISE_CORPUS")
    if not corpus:
        pytest.skip("FAULTWISE_CORPUS names no file of labelled failures")
    verdicts = tmp_path / "verdicts.jsonl"
    with verdicts.open("w") as out:
        command = [sys.executable, "-m", "faultwise.server.cli", "classify", "--jsonl", corpus]
        assert subprocess.run(command, stdout=out, check=False).returncode == 0
    held = {row["id"]: row for row in map(json.loads, verdicts.read_text().splitlines())}
    cases = [json.loads(line) for line in Path(corpus).read_text(encoding="utf-8").splitlines()]
    right = sum(agrees(held[case["id"]], [case["expected"], *case["also_ok"]]) for case in cases)
    assert right >= 0.97 * len(cases)


def agrees(verdict: dict[str, object], labels: list[dict[str, object]]) -> bool:
    coarse = {"model_family": "model", "egress": "connection", "host": "provider"}
    scope = coarse.get(str(verdict["scope"]), verdict["scope"])
    decisions = (verdict["reason"], scope, verdict["temporary"], verdict["fallback"])
    return any(
        decisions == tuple(label[key] for key in ("reason", "scope", "temporary", "fallback")) for label in labels
    )
