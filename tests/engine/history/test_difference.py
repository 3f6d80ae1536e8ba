"""What changed between two sets of rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise.engine.history.difference import differences
from faultwise.engine.policy.source import Sources

A = (
    "faultwise: 1\nkind: provider\nprovider: acme\nquota_unit: model\n"
    "rules:\n"
    "  - {id: one, status: [403], any: [a b c], reason: quota_exhausted}\n"
    "  - {id: two, status: [429], reason: rate_limit_exceeded}\n"
    "cases: []\n"
)
GENERAL = "faultwise: 1\nkind: rules\nrules:\n  - {id: g, status: [420], reason: overloaded}\n"
CLIENTS = "faultwise: 1\nkind: clients\nclients: []\n"


Shown = Callable[[dict[str, str], dict[str, str]], list[str]]


@pytest.fixture
def shown(lay: Callable[..., Sources]) -> Shown:
    """The differences between two sets of operator files, as printed."""

    def between(old: dict[str, str], new: dict[str, str]) -> list[str]:
        found = differences(lay(old, shipped=False), lay(new, shipped=False))
        return [" ".join(str(one).split()) for one in found]

    return between


def test_the_same_rules_do_not_differ_however_they_are_laid_out(shown: Shown) -> None:
    assert shown({"a.yaml": A}, {"other.yaml": "# a comment\n" + A.replace("cases: []\n", "")}) == []


def test_what_came_and_went_is_named(shown: Shown) -> None:
    assert shown({}, {"a.yaml": A}) == ["added provider acme", "added rule acme/one", "added rule acme/two"]
    assert shown({"g.yaml": GENERAL}, {}) == ["removed rule g"]
    assert shown({}, {"c.yaml": CLIENTS}) == ["added clients c.yaml"]


def test_a_change_names_its_keys(shown: Shown) -> None:
    new = A.replace("[a b c]", "[a b d]").replace("[429]", "[429, 503]").replace("model", "connection")
    assert shown({"a.yaml": A}, {"a.yaml": new.replace("reason: quota_exhausted", "reason: unknown, lock: model")}) == [
        "changed provider acme: quota_unit",
        "changed rule acme/one: any, reason, lock",
        "changed rule acme/two: status",
    ]


def test_another_order_is_a_change_since_the_first_match_wins(shown: Shown) -> None:
    head, one, two, rest = A.partition("  - {id: one")[0], *A.splitlines(keepends=True)[5:7], "cases: []\n"
    assert shown({"a.yaml": A}, {"a.yaml": head + two + one + rest}) == ["changed provider acme: order"]


def test_rows_and_tables_of_the_policy_are_entries(shown: Shown) -> None:
    old = {"p.yaml": "faultwise: 1\nkind: policy\nmarkers: {own: [alpha beta]}\n"}
    new = {
        "p.yaml": "faultwise: 1\nkind: policy\nmarkers: {own: [gamma delta]}\ndefaults: {418: unknown}\n"
        "reasons: {unknown: {fallback: false}}\n"
    }
    assert shown(old, new) == ["changed defaults: 418", "changed markers: own", "changed reason unknown: fallback"]
