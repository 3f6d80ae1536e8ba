"""Mutants: what is taken away, and whether a case notices."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise import dsl
from faultwise.engine.policy.load import load
from faultwise.engine.policy.source import Sources
from faultwise.engine.trial.mutants import changed, mutants
from faultwise.engine.trial.trials import Trials

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
  - {name: one, status: 418, body: {error: {message: one}}, expect: {rule: acme-other}}
  - name: elsewhere
    status: [200, 409, 500]
    each: [used up, one, {message: no, code: a, type: x}]
    body: {error: $each}
    expect: {not_rule: [acme-r, acme-quota, acme-code, acme-other]}
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
    assert (count, missed) == (27, [])


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
    held = [message for message in missed if " without " in message]
    assert held == ["no case notices `g` without `any`", "no case notices `g` without `down` in `any`"]
    heir = "faultwise: 1\nkind: provider\nprovider: heir\nextends: acme\n"
    sources = lay({"acme.yaml": HEAD + RULES + STRONG, "heir.yaml": heir}, shipped=False)
    policy = load(sources)
    assert all(Trials(policy).notices(mutant) for mutant in mutants(sources, policy))


def test_a_rule_for_some_statuses_is_tried_for_all_of_their_class(lay: Callable[..., Sources]) -> None:
    _, missed = trial(lay, WEAK)
    assert "no case notices `acme-r` with `200` in `from`" in missed
    assert "no case notices `acme-quota` with `5xx` in `status`" in missed


def test_mutants_that_hold_more_easily_are_told_from_those_that_hold_less(lay: Callable[..., Sources]) -> None:
    sources = lay({"acme.yaml": HEAD + RULES + WEAK}, shipped=False)
    weakens = {f"{one.rule.id} {one.change}": one.weakens for one in mutants(sources, load(sources), ["acme.yaml"])}
    assert weakens["acme-r without `none`"] and weakens["acme-quota without `phase`"]
    assert weakens['acme-code without `code == "a"` in `when`'] and weakens["acme-other with `5xx` in `status`"]
    assert not weakens["acme-quota without `spent` in `any`"] and not weakens["acme-r without `400` in `from`"]
    assert not weakens['acme-code without `"x"` in `when`']


@pytest.mark.parametrize(
    ("when", "tried"),
    [
        ('code == "made_up"', True),
        ('text has "used up" or code == "rate_limit_exceeded"', True),
        ("attempt > 1", True),
        ('code == "rate_limit_exceeded"', False),
        ('type in ["rate_limit_error", "overloaded_error"]', False),
        ('code == "503"', False),
        ("inner_status == 503", False),
        ("status in [429, 503] and outer exists", False),
        ("status >= 500 and attempt > 1", False),
        ('text has "used up" and code == "rate_limit_exceeded" or inner_status == 429', False),
    ],
)
def test_a_rule_is_not_tried_for_a_200_where_its_words_make_that_another_status(
    when: str, tried: bool, lay: Callable[..., Sources]
) -> None:
    rule = f"rules:\n  - {{id: acme-a, status: [429], when: '{when}', reason: unknown}}\n"
    assert tried_for_200(lay, rule) is tried


@pytest.mark.parametrize(("phase", "tried"), [("response", False), ("finish", False), ("[body, response]", True)])
def test_nor_where_no_200_has_its_phase(phase: str, tried: bool, lay: Callable[..., Sources]) -> None:
    rule = f"rules:\n  - {{id: acme-a, status: [429], phase: {phase}, reason: unknown}}\n"
    assert tried_for_200(lay, rule) is tried


def tried_for_200(lay: Callable[..., Sources], rule: str) -> bool:
    sources = lay({"acme.yaml": HEAD + rule}, shipped=False)
    return "with `200` in `status`" in {one.change for one in mutants(sources, load(sources))}


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
    assert [dsl.source(node) for node, _, _ in changed(dsl.parse(text))] == left


@pytest.mark.parametrize(
    ("text", "weakens"),
    [
        ('code == "a" and type == "b"', True),
        ('code == "a" or type == "b"', False),
        ('not (code == "a" and type == "b")', False),
        ('not (code == "a" or type == "b")', True),
        ('code in ["a", "b"]', False),
        ('text has any ["a", "b"]', False),
        ('text has all ["a", "b"]', True),
        ('code not in ["a", "b"]', True),
        ('not code in ["a", "b"]', True),
    ],
)
def test_a_part_less_weakens_a_condition_or_narrows_it(text: str, weakens: bool) -> None:
    assert {sense for _, _, sense in changed(dsl.parse(text))} == {weakens}
