"""Coverage by rule, by status, by reason."""

from __future__ import annotations

from collections.abc import Callable

from faultwise.engine.policy.policy import Policy
from faultwise.engine.trial.coverage import cover

FILE = """\
faultwise: 1
kind: provider
provider: acme
restatements:
  - {id: acme-r, from: [403], to: 429, any: [used up]}
rules:
  - {id: acme-fires, status: [429], any: [used up], none: [for ever], reason: quota_exhausted}
  - {id: acme-behind, status: [429], any: [all used], reason: quota_exhausted}
  - {id: acme-vetoed, status: [429], any: [slow], none: [used], reason: rate_limit_exceeded}
  - {id: acme-structure, status: [418], when: code == "x", reason: unknown}
  - {id: acme-never, status: [451], reason: region_blocked}
  - {id: acme-shadow, status: [429], mode: shadow, reason: unknown}
cases:
  - {name: fires, status: 403, body: {error: {message: all used up and slow}}, expect: {rule: acme-fires}}
  - {name: near miss, status: 418, expect: {not_rule: acme-structure}}
  - {name: transport, kind: refused, expect: {reason: network_error}}
  - {name: fine, status: 200, body: {ok: true}, expect: {reason: not_an_error}}
  - {name: local, kind: client_gone, expect: {reason: client_gone}}
"""


def test_each_rule_is_at_best_fired_vetoed_outranked_or_never_reached(over: Callable[..., Policy]) -> None:
    covered = cover(over({"acme.yaml": FILE}, shipped=False))
    assert {rule.id: rule.state for rule in covered.rules} == {
        "acme-r": "fired",
        "acme-fires": "fired",
        "acme-behind": "outranked",
        "acme-vetoed": "vetoed",
        "acme-structure": "vetoed",
        "acme-never": "never reached",
    }
    assert round(covered.percent, 1) == 33.3


def test_statuses_and_reasons_without_a_case_are_there_with_none(over: Callable[..., Policy]) -> None:
    covered = cover(over({"acme.yaml": FILE}, shipped=False))
    assert covered.statuses == {"200": 1, "403": 1, "418": 1, "429": 0, "451": 0, "client_gone": 1, "refused": 1}
    assert covered.reasons["quota_exhausted"] == 1
    assert covered.reasons["timeout"] == 0


def test_a_rule_that_many_inherit_counts_once(over: Callable[..., Policy]) -> None:
    heir = "faultwise: 1\nkind: provider\nprovider: heir\nextends: acme\n"
    covered = cover(over({"acme.yaml": FILE, "heir.yaml": heir}, shipped=False))
    assert [rule.id for rule in covered.rules].count("acme-fires") == 1


def test_it_can_be_narrowed_to_files_and_nothing_is_wholly_covered(over: Callable[..., Policy]) -> None:
    covered = cover(over({"acme.yaml": FILE}))
    assert {rule.origin.file for rule in covered.of(["acme.yaml"]).rules} == {"acme.yaml"}
    assert covered.of([]).percent == 100


def test_a_case_that_is_no_failure_is_left_out(over: Callable[..., Policy]) -> None:
    text = FILE.replace("status: 200, body: {ok: true}", "status: 200, body_base64: '!'")
    assert "200" not in cover(over({"acme.yaml": text}, shipped=False)).statuses
