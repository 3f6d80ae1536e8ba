"""Whole verdicts and explanations, pinned: a change of any field is seen in review."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from faultwise.engine.cases import NOW
from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import decide
from faultwise.engine.verdict.explain import explain

KINDS: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "kinds.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_verdict_on_each_kind(kind: str, shipped: Policy, snapshot: SnapshotAssertion) -> None:
    verdict = decide(shipped, intake(KINDS[kind], NOW)).to_json()
    del verdict["policy"], verdict["id"]
    assert verdict == snapshot


@pytest.mark.parametrize("kind", ["quota sent as 403", "a bare 429", "an error in a 200 body"])
def test_the_effects_an_explanation_shows(kind: str, shipped: Policy, snapshot: SnapshotAssertion) -> None:
    explanation = explain(shipped, intake(KINDS[kind], NOW)).to_json()
    assert {"found": explanation["found"], "effects": explanation["effects"]} == snapshot


def test_an_explanation_shows_the_rule_that_won(shipped: Policy) -> None:
    for kind, row in KINDS.items():
        explanation = explain(shipped, intake(row, NOW))
        won = [one.id for one in explanation.rules if one.matched]
        assert won == [explanation.verdict.rule] or explanation.verdict.layer == "default", kind
        assert explanation.verdict == decide(shipped, intake(row, NOW))
