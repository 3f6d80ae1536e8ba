"""From a failure to a verdict: guards, scopes, waits, and what the client is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from faultwise.engine.failure.intake import intake
from faultwise.engine.policy.policy import Policy
from faultwise.engine.verdict.decide import decide
from faultwise.engine.verdict.verdict import Verdict

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def judge(policy: Policy, **row: Any) -> Verdict:
    return decide(policy, intake({"provider": "acme", **row}, NOW))


def acme(rules: str, **keys: str) -> dict[str, str]:
    head = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return {"acme.yaml": f"faultwise: 1\nkind: provider\nprovider: acme\n{head}rules:\n{rules}"}


@pytest.mark.parametrize("status", range(400, 600))
def test_every_status_has_a_default(shipped: Policy, status: int) -> None:
    verdict = judge(shipped, status=status)
    assert verdict.rule == f"default-{status}" and verdict.layer == "default"
    assert verdict.terminal is None or status == 402


@pytest.mark.parametrize(
    ("kind", "reason", "scope", "status"),
    [
        ("refused", "network_error", "host", 502),
        ("dns", "network_error", "host", 502),
        ("connect_timeout", "timeout", "provider", 504),
        ("idle_timeout", "timeout", "provider", 504),
        ("bad_encoding", "server_error", "provider", 502),
        ("client_gone", "client_gone", "request", 499),
        ("local_limit", "local_limit", "request", 429),
    ],
)
def test_every_kind_has_a_default(shipped: Policy, kind: str, reason: str, scope: str, status: int) -> None:
    verdict = judge(shipped, kind=kind)
    assert (verdict.reason, verdict.scope, verdict.status, verdict.rule) == (reason, scope, status, f"default-{kind}")
    assert verdict.upstream_status is None


def test_what_is_local_is_known_by_its_kind_and_never_by_its_text(shipped: Policy) -> None:
    verdict = judge(shipped, kind="local_limit", body={"error": {"message": "insufficient balance"}})
    assert (verdict.reason, verdict.fallback, verdict.cooldown_s, verdict.counts_for_breaker) == (
        "local_limit",
        False,
        None,
        False,
    )


def test_a_403_alone_is_a_credential_error_and_no_ban(shipped: Policy) -> None:
    verdict = judge(shipped, status=403)
    assert (verdict.reason, verdict.temporary, verdict.terminal, verdict.fallback) == ("auth_error", False, None, True)


def test_the_same_input_gives_the_same_verdict(shipped: Policy) -> None:
    row = {"status": 429, "headers": {"retry-after": "5"}, "body": {"error": {"message": "x"}}}
    assert judge(shipped, **row) == judge(shipped, **row)


def test_a_ban_over_words_alone_needs_a_status_that_proves_it(shipped: Policy) -> None:
    body = {"error": {"message": "Your account has been suspended"}}
    assert judge(shipped, status=403, body=body).terminal == "banned"
    assert judge(shipped, status=429, body=body).terminal is None


def test_a_structured_code_proves_a_ban_at_any_status(shipped: Policy) -> None:
    assert (
        judge(shipped, status=400, body={"error": {"message": "x", "code": "account_deactivated"}}).terminal == "banned"
    )


def test_what_is_temporary_is_never_terminal(over: Callable[..., Policy]) -> None:
    policy = over(acme("  - {id: a, status: [403], any: [gone], reason: quota_exhausted, terminal: banned}\n"))
    assert judge(policy, status=403, body="gone").terminal is None


def test_without_an_account_nothing_is_terminal(shipped: Policy) -> None:
    body = {"error": {"message": "Your account has been suspended"}}
    assert judge(shipped, status=403, body=body, auth="none").terminal is None


def test_a_fault_of_the_callers_locks_nothing_whatever_the_rule_says(over: Callable[..., Policy]) -> None:
    policy = over(acme("  - {id: a, status: [400], any: [gone], reason: bad_request, lock: connection}\n"))
    verdict = judge(policy, status=400, body="gone")
    assert (verdict.scope, verdict.lock_key, verdict.cooldown_s) == ("request", None, None)


def test_a_shipped_rule_off_the_lists_sees_no_prose_and_binds_no_lock(shipped: Policy) -> None:
    assert "acme" not in shipped.allowlists.full_text
    listed = shipped.provider("agentrouter")
    assert [rule.lock for rule in listed.rules][0] == "connection"


def test_quota_takes_the_providers_unit(over: Callable[..., Policy]) -> None:
    rules = "  - {id: a, status: [403], any: [gone], reason: quota_exhausted}\n"
    verdict = judge(over(acme(rules, quota_unit="model")), status=403, body="gone", model="m", connection="c")
    assert (verdict.scope, verdict.lock_key) == ("model", "acme/c/m")
    verdict = judge(over(acme(rules, quota_unit="egress")), status=403, body="gone", egress="e", host="h")
    assert (verdict.scope, verdict.lock_key) == ("connection", "acme/-")


def test_only_a_quota_widens_to_the_family(over: Callable[..., Policy]) -> None:
    rules = (
        "  - {id: a, status: [429], any: [gone], reason: quota_exhausted, lock: model}\n"
        "  - {id: b, status: [503], any: [full], reason: model_capacity}\n"
    )
    policy = over(acme(rules, families='{gpt: ["gpt-5*"]}'))
    verdict = judge(policy, status=429, body="gone", model="gpt-5-mini", connection="c")
    assert (verdict.scope, verdict.lock_key) == ("model_family", "acme/c/family:gpt")
    assert judge(policy, status=429, body="gone", model="o3", connection="c").lock_key == "acme/c/o3"
    assert judge(policy, status=503, body="full", model="gpt-5-mini", connection="c").lock_key == "acme/c/gpt-5-mini"


@pytest.mark.parametrize(
    ("rule", "headers", "cooldown", "source", "told"),
    [
        ("cooldown: 6h", {"retry-after": "5"}, 21600.0, "rule", 21600.0),
        ("why: none", {"retry-after": "5"}, 5.0, "header", 5.0),
        ("cooldown: 'min(stated, 3s)'", {"retry-after": "5"}, 3.0, "rule", 3.0),
        ("cooldown: 'min(stated, 3s)'", {}, 3600.0, "reason", None),
        ("cooldown: stated else 2h", {}, 7200.0, "rule", 7200.0),
        ("why: none", {}, 3600.0, "reason", None),
        ("why: none", {"retry-after": "31536000"}, 30 * 86400.0, "header", 30 * 86400.0),
        ("cooldown: 40d", {}, 40 * 86400.0, "rule", 40 * 86400.0),
        ("cooldown: 40d, cap: 1d", {}, 86400.0, "rule", 86400.0),
    ],
)
def test_the_wait_is_the_first_known_one_capped_by_its_source(
    over: Callable[..., Policy], rule: str, headers: dict[str, str], cooldown: float, source: str, told: float | None
) -> None:
    policy = over(acme(f"  - {{id: a, status: [403], any: [gone], reason: quota_exhausted, {rule}}}\n"))
    verdict = judge(policy, status=403, body="gone", headers=headers)
    assert (verdict.cooldown_s, verdict.cooldown_source, verdict.retry_after_s) == (cooldown, source, told)


def test_until_reset_is_the_providers_own_midnight(over: Callable[..., Policy]) -> None:
    rules = "  - {id: a, status: [403], any: [gone], reason: quota_exhausted}\n"
    policy = over(acme(rules, reset='{at: "00:00", zone: Asia/Shanghai}'))
    verdict = judge(policy, status=403, body="gone")  # midnight UTC is eight in the morning there
    assert (verdict.cooldown_s, verdict.cooldown_source) == (16 * 3600.0, "reason")


@pytest.mark.parametrize(("auth", "base"), [("api_key", 3.0), ("oauth", 5.0), ("local", 3.0)])
def test_backoff_starts_at_the_base_of_the_profile(shipped: Policy, auth: str, base: float) -> None:
    verdict = judge(shipped, status=429, auth=auth)
    assert (verdict.cooldown_s, verdict.cooldown_source, verdict.retry_after_s) == (base, "backoff", None)


def test_an_offered_wait_is_reported_but_not_told_for_what_does_not_end_by_itself(shipped: Policy) -> None:
    verdict = judge(shipped, status=403, headers={"retry-after": "26"})
    assert (verdict.stated_s, verdict.stated_source, verdict.retry_after_s) == (26.0, "header", None)


@pytest.mark.parametrize(
    ("status", "counts"),
    [(500, True), (503, True), (504, True), (401, False), (403, False), (429, False), (400, False)],
)
def test_the_breaker_counts_failures_of_the_service_only(shipped: Policy, status: int, counts: bool) -> None:
    assert judge(shipped, status=status).counts_for_breaker is counts


def test_an_override_of_the_rule_decides(over: Callable[..., Policy]) -> None:
    over_all = "temporary: false, fallback: false, wait_ok: true, fault: credential, tell: 418"
    policy = over(acme(f"  - {{id: a, status: [403], any: [gone], reason: quota_exhausted, {over_all}}}\n"))
    verdict = judge(policy, status=403, body="gone")
    assert (verdict.temporary, verdict.fallback, verdict.wait_ok, verdict.fault, verdict.status) == (
        False,
        False,
        True,
        "credential",
        418,
    )


def test_an_expired_rule_no_longer_fires(over: Callable[..., Policy]) -> None:
    rule = "  - {id: a, status: [403], any: [gone], reason: quota_exhausted, expires: 2026-01-02}\n"
    policy = over(acme(rule))
    assert judge(policy, status=403, body="gone").rule == "a"
    assert judge(policy, status=403, body="gone", now="2026-01-03T00:00:00Z").rule == "default-403"


def test_a_rule_may_speak_about_one_phase(over: Callable[..., Policy]) -> None:
    policy = over(acme("  - {id: a, status: [429], any: [gone], reason: quota_exhausted, phase: stream}\n"))
    event = 'data: {"error": {"message": "gone", "code": 429}}\n\n'
    assert judge(policy, status=200, stream="sse-mid", body=event).rule == "a"
    assert judge(policy, status=429, body={"error": {"message": "gone"}}).rule == "default-429"


def test_a_fine_answer_is_not_an_error(shipped: Policy) -> None:
    body = {
        "choices": [
            {"message": {"content": "your account has been suspended, quota exceeded"}, "finish_reason": "stop"}
        ]
    }
    verdict = judge(shipped, status=200, body=body)
    assert verdict.to_json() == {
        **dict.fromkeys(verdict.to_json()),
        "provider": "acme",
        "phase": verdict.phase,
        "status": 200,
        "upstream_status": 200,
        "reason": "not_an_error",
        "scope": "request",
        "temporary": False,
        "fallback": False,
        "wait_ok": False,
        "counts_for_breaker": False,
        "proven": False,
        "policy": shipped.digest,
    }


def test_waits_are_told_to_the_millisecond(shipped: Policy) -> None:
    told = judge(shipped, status=429, headers={"retry-after": "59.99999904"}).to_json()
    assert (told["stated_s"], told["cooldown_s"], told["retry_after_s"]) == (60.0, 60.0, 60.0)
