"""Mutants: what is taken away, and whether a case notices."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise import dsl
from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import Sources
from faultwise.engine.trial.mutants import Trials, mutants, weakened

HEAD = "faultwise: 1\nkind: provider\nprovider: acme\n"
RULES = """\
restatements:
  - {id: acme-r, from: [403, 400], to: 429, any: [used up], none: [for ever]}
rules:
  - {id: acme-quota, status: [429, 402], any: [used up, spent], phase: response, reason: quota_exhausted}
  - {id: acme-code, status: [418], when: 'code == "a" and type in ["x", "y"]', reason: unknown}
  - {id: acme-other, status: 418, all: one, reason: bad_request}
  - {id: acme-shadow, status: [429], any: [x y z], mode: shadow, reason: unknown}
"""
WEAK = """\
cases:
  - {name: used up, status: 403, body: {error: {message: used up}}, expect: {rule: acme-quota}}
  - {name: fails, status: 429, body: {error: {message: spent}}, expect: {rule: acme-other}}
"""
STRONG = """\
cases:
  - {name: used up, status: 403, body: {error: {message: used up}}, expect: {rule: acme-quota, status: 429}}
  - {name: as 400, status: 400, body: {error: {message: used up}}, expect: {rule: acme-quota}}
  - {name: for ever, status: 403, body: {error: {message: used up for ever}}, expect: {not_rule: acme-r}}
  - {name: refused, status: 403, body: {error: {message: no}}, expect: {not_rule: acme-r}}
  - {name: spent, status: 402, body: {error: {message: spent}}, expect: {rule: acme-quota}}
  - {name: plain, status: 429, body: {error: {message: no}}, expect: {not_rule: acme-quota}}
  - {name: in a stream, status: 200, stream: sse-first, body: "data: {\\"error\\": {\\"message\\": \\"used up\\", \\"code\\": 429}}\\n\\n", expect: {not_rule: acme-quota}}
  - {name: a x, status: 418, body: {error: {code: a, type: x}}, expect: {rule: acme-code}}
  - {name: a y, status: 418, body: {error: {code: a, type: y}}, expect: {rule: acme-code}}
  - {name: a z, status: 418, body: {error: {code: a, type: z}}, expect: {not_rule: acme-code}}
  - {name: b x, status: 418, body: {error: {code: b, type: x}}, expect: {not_rule: [acme-code, acme-other]}}
"""


def trial(lay: Callable[..., Sources], cases: str, general: str = "") -> tuple[int, list[str]]:
    """How many mutants there were, and what no case noticed."""
    files = {"acme.yaml": HEAD + RULES + cases} | ({"g.yaml": general} if general else {})
    sources = lay(files, shipped=False)
    policy = load(sources)
    made = mutants(sources, policy, files)
    trials = Trials(policy)
    return len(made), [mutant.problem.message for mutant in made if not trials.notices(mutant)]


def test_cases_that_hold_every_condition_notice_every_mutant(lay: Callable[..., Sources]) -> None:
    count, missed = trial(lay, STRONG)
    assert (count, missed) == (16, [])


def test_what_no_case_holds_is_named_with_the_condition_that_is_gone(lay: Callable[..., Sources]) -> None:
    _, missed = trial(lay, WEAK)
    assert "no case notices `acme-r` without `none`" in missed
    assert "no case notices `acme-r` without `400` in `from`" in missed
    assert "no case notices `acme-quota` without `spent` in `any`" in missed
    assert "no case notices `acme-quota` without `phase`" in missed
    assert 'no case notices `acme-code` without `code == "a"` in `when`' in missed
    assert "no case notices `acme-r` without `any`" in missed
    assert "no case notices `acme-quota` without `used up` in `any`" not in missed


def test_a_finding_stands_at_the_key_that_was_changed(lay: Callable[..., Sources]) -> None:
    sources = lay({"acme.yaml": HEAD + RULES + WEAK}, shipped=False)
    (first, *_) = mutants(sources, load(sources), ["acme.yaml"])
    assert (first.problem.file, first.problem.line, first.problem.code) == ("acme.yaml", 5, "FW032")


def test_rules_without_conditions_of_another_file_and_in_shadow_have_no_mutants(lay: Callable[..., Sources]) -> None:
    sources = lay({"acme.yaml": HEAD + RULES + STRONG}, shipped=False)
    made = mutants(sources, load(sources))
    assert {mutant.rule.id for mutant in made} == {"acme-r", "acme-quota", "acme-code", "acme-other"}
    assert mutants(sources, load(sources), []) == ()


def test_general_rules_and_rules_that_are_inherited_are_tried(lay: Callable[..., Sources]) -> None:
    general = (
        "faultwise: 1\nkind: rules\nrules:\n  - {id: g, status: [420], any: [calm, down], reason: overloaded}\n"
        "cases:\n  - {name: calm, provider: x, status: 420, body: {error: {message: calm}}, expect: {rule: g}}\n"
    )
    _, missed = trial(lay, STRONG, general=general)
    assert missed == ["no case notices `g` without `any`", "no case notices `g` without `down` in `any`"]
    heir = "faultwise: 1\nkind: provider\nprovider: heir\nextends: acme\n"
    sources = lay({"acme.yaml": HEAD + RULES + STRONG, "heir.yaml": heir}, shipped=False)
    policy = load(sources)
    assert all(Trials(policy).notices(mutant) for mutant in mutants(sources, policy))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('code == "a"', []),
        ('code == "a" and type == "b"', ['type == "b"', 'code == "a"']),
        ('not (code == "a" or type == "b")', ['not type == "b"', 'not code == "a"']),
        ('code in ["a", "b"]', ['code in ["b"]', 'code in ["a"]']),
        (
            'attempt == 1 and (code == "a" or type == "b") and now > 1',
            [
                '(code == "a" or type == "b") and now > 1',
                "attempt == 1 and now > 1",
                'attempt == 1 and type == "b" and now > 1',
                'attempt == 1 and code == "a" and now > 1',
                'attempt == 1 and (code == "a" or type == "b")',
            ],
        ),
    ],
)
def test_a_condition_loses_one_part_at_a_time(text: str, left: list[str]) -> None:
    assert [dsl.source(node) for node, _ in weakened(dsl.parse(text))] == left
