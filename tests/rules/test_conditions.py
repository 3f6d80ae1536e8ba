"""The shipped cases hold the conditions of the shipped rules: weaken one, and a case fails."""

from __future__ import annotations

from random import Random

import pytest

from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import collect
from faultwise.engine.trial.mutants import Mutant, mutants
from faultwise.engine.trial.trials import Trials

RULES = 20


@pytest.fixture(scope="module")
def catalogue() -> tuple[Trials, dict[str, list[Mutant]]]:
    """The cases, and by rule its weakenings."""
    sources = collect(cases=True)
    policy = load(sources)
    by_rule: dict[str, list[Mutant]] = {}
    for mutant in mutants(sources, policy):
        if mutant.weakens:
            by_rule.setdefault(mutant.rule.id, []).append(mutant)
    return Trials(policy), by_rule


@pytest.mark.parametrize("seed", range(4))
def test_a_case_notices_each_weakening_of_twenty_rules(
    seed: int, catalogue: tuple[Trials, dict[str, list[Mutant]]]
) -> None:
    trials, by_rule = catalogue
    chosen = Random(seed).sample(sorted(by_rule), RULES)
    missed = [str(one.problem) for name in chosen for one in by_rule[name] if not trials.notices(one)]
    assert not missed, "\n".join(missed)
