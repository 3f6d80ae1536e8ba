"""Operators' files lie over shipped ones, and a file over the base it extends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.policy import Policy
from faultwise.engine.problem import PolicyError
from faultwise.engine.verdict.decide import decide

QUOTA = {"provider": "agentrouter", "status": 403, "body": {"error": {"message": "用户额度不足"}}}


def provider(name: str, rules: str = "", **keys: str) -> str:
    lines = ["faultwise: 1", "kind: provider", f"provider: {name}", *(f"{key}: {value}" for key, value in keys.items())]
    return "\n".join(lines) + "\n" + rules


def rule(name: str, marker: str, reason: str) -> str:
    return f"rules:\n  - {{id: {name}, status: [400, 403, 429], any: [{marker}], reason: {reason}}}\n"


def fired(policy: Policy, row: dict) -> tuple[str | None, str | None]:
    verdict = decide(policy, intake(row, 0.0))
    return verdict.rule, verdict.layer


def test_an_operators_rule_is_tried_before_the_shipped_ones(over: Callable[..., Policy]) -> None:
    policy = over({"a.yaml": provider("agentrouter", rule("mine", "额度不足", "credits_exhausted"))})
    assert fired(policy, QUOTA) == ("mine", "operator-provider")
    assert decide(policy, intake(QUOTA, 0.0)).restated_by == "agentrouter-quota-misstated"


def test_the_same_id_replaces(over: Callable[..., Policy]) -> None:
    policy = over(
        {"a.yaml": provider("agentrouter", rule("agentrouter-user-quota-exhausted", "something else", "auth_error"))}
    )
    assert fired(policy, QUOTA)[0] != "agentrouter-user-quota-exhausted"


def test_disable_removes_rules_and_restatements(over: Callable[..., Policy]) -> None:
    policy = over(
        {"a.yaml": provider("agentrouter", disable="[agentrouter-quota-misstated, agentrouter-user-quota-exhausted]")}
    )
    verdict = decide(policy, intake(QUOTA, 0.0))
    assert (verdict.upstream_status, verdict.restated_by) == (403, None)
    assert verdict.rule != "agentrouter-user-quota-exhausted"


def test_disabling_what_is_not_there_is_a_problem(over: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError, match=r"a\.yaml:4:11: FW021 `disable` names `nothing`"):
        over({"a.yaml": provider("agentrouter", disable="[nothing]")})


def test_a_later_source_lies_over_an_earlier_one(over: Callable[..., Policy]) -> None:
    first = provider("acme", rule("first", "gone", "quota_exhausted"))
    second = provider("acme", rule("second", "gone", "credits_exhausted"))
    row = {"provider": "acme", "status": 403, "body": "gone"}
    assert fired(over([{"a.yaml": first}, {"b.yaml": second}]), row) == ("second", "operator-provider")
    assert fired(over([{"b.yaml": second}, {"a.yaml": first}]), row) == ("first", "operator-provider")


def test_names_and_aliases_match_in_any_case(over: Callable[..., Policy]) -> None:
    policy = over({})
    assert policy.provider("AgentRouter.ORG").name == policy.provider("AGENTROUTER").name == "agentrouter"
    assert policy.provider("Nobody-Knows").name == "nobody-knows"


def test_an_alias_cannot_mean_two_providers(over: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError, match="alias `groqcloud` already means provider `groq`"):
        over({"a.yaml": provider("acme", aliases="[groqcloud]")})


def test_a_file_inherits_the_rules_of_its_base_after_its_own_in_its_own_layer(over: Callable[..., Policy]) -> None:
    base = provider("software", rule("base", "gone", "quota_exhausted"), quota_unit="model")
    relay = provider("relay", rule("own", "special", "auth_error"), extends="software")
    policy = over({"a.yaml": base, "b.yaml": relay})
    assert [one.id for one in policy.provider("relay").rules] == ["own", "base"]
    assert policy.provider("relay").quota_unit == "model"
    assert fired(policy, {"provider": "relay", "status": 403, "body": "gone"}) == ("base", "operator-provider")


def test_what_an_operator_lays_over_a_base_is_inherited_in_front_of_it(over: Callable[..., Policy]) -> None:
    heir = "faultwise: 1\nkind: provider\nprovider: heir\nextends: acme\n"
    base = provider("acme", rule("acme-old", "old words", "unknown"))
    mine = provider("ACME", rule("acme-new", "new words", "overloaded"))
    policy = over([{"heir.yaml": heir, "acme.yaml": base}, {"mine.yaml": mine}])
    assert [one.id for one in policy.provider("heir").rules] == ["acme-new", "acme-old"]


def test_a_circle_of_bases_is_refused(over: Callable[..., Policy]) -> None:
    files = {"a.yaml": provider("a", extends="b"), "b.yaml": provider("b", extends="a")}
    with pytest.raises(PolicyError, match="`extends` runs in a circle: a -> b -> a"):
        over(files)


def test_an_unknown_base_is_told_with_the_nearest(over: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError, match=r"unknown base `agentrouterr`\n    help: did you mean `agentrouter`"):
        over({"a.yaml": provider("a", extends="agentrouterr")})


def test_policy_files_merge_by_key_lists_replace_and_plus_appends(over: Callable[..., Policy]) -> None:
    head = "faultwise: 1\nkind: policy\n"
    policy = over({"policy.yaml": head + "markers: {+credit_codes: [no_coins]}\ncaps: {header: 2d}\n"})
    assert {"insufficient_quota", "no_coins"} <= set(policy.markers["credit_codes"])
    assert (policy.caps["header"], policy.caps["body"]) == (2 * 86400, 30 * 86400)
    replaced = over({"policy.yaml": head + "markers: {credit_codes: [no_coins]}\n"})
    assert replaced.markers["credit_codes"] == ("no_coins",)


def test_an_operator_may_add_a_reason(over: Callable[..., Policy]) -> None:
    row = (
        "{fault: account, temporary: true, fallback: true, wait_ok: false, lock: connection, cooldown: 5h, status: 429}"
    )
    files = {
        "policy.yaml": f"faultwise: 1\nkind: policy\nreasons:\n  session_over: {row}\n",
        "acme.yaml": provider("acme", rule("over", "session", "session_over")),
    }
    verdict = decide(over(files), intake({"provider": "acme", "status": 403, "body": "session"}, 0.0))
    assert (verdict.reason, verdict.status, verdict.cooldown_s, verdict.cooldown_source) == (
        "session_over",
        429,
        18000,
        "reason",
    )


def test_general_rules_of_operators_come_before_shipped_ones_and_replace_by_id(over: Callable[..., Policy]) -> None:
    mine = "faultwise: 1\nkind: rules\n" + rule("mine", "too many requests", "quota_exhausted")
    row = {"provider": "x", "status": 400, "body": {"error": {"message": "Too many requests"}}}
    assert fired(over({"g.yaml": mine}), row) == ("mine", "operator-general")
    gone = "faultwise: 1\nkind: rules\n" + rule("rate-limit-wording", "nothing of the kind", "quota_exhausted")
    assert fired(over({"g.yaml": gone}), row)[0] != "rate-limit-wording"


def test_a_status_in_quotes_is_the_same_key(over: Callable[..., Policy]) -> None:
    policy = over({"p.yaml": 'faultwise: 1\nkind: policy\ndefaults: {"403": request_rejected, 5xx: unknown}\n'})
    assert policy.defaults[403].reason == "request_rejected"
    assert policy.defaults[403].origin.file == "p.yaml"


def test_cases_of_a_clients_file_are_not_failures(over: Callable[..., Policy]) -> None:
    text = "faultwise: 1\nkind: clients\ncases: []\n"
    assert all(case.parsed.kind != "clients" for case in over({"c.yaml": text}).cases)
