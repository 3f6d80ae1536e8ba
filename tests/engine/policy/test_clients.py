"""Client profiles are recognised by the request, overlaid like rules, and checked like them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from faultwise.engine.failure.record import Headers
from faultwise.engine.policy.client import GENERIC, Caller
from faultwise.engine.policy.policy import Policy
from faultwise.engine.problem import PolicyError

HEAD = "faultwise: 1\nkind: clients\n"
AGENTS = {
    "claude-code": ("anthropic", {"User-Agent": "claude-cli/2.1.272 (external, cli)", "x-app": "cli"}),
    "codex": ("openai", {"user-agent": "codex_cli_rs/0.130.0", "originator": "codex_cli_rs"}),
    "openai-sdk": ("openai", {"user-agent": "OpenAI/Python 3.57.0"}),
    "anthropic-sdk": ("anthropic", {"user-agent": "Anthropic/Python 2.14.0"}),
    "generic": ("openai", {"user-agent": "curl/8.7.1"}),
}


def clients(*rows: str, more: str = "") -> dict[str, str]:
    return {"c.yaml": HEAD + "clients:\n" + "".join(f"  - {row}\n" for row in rows) + more}


def recognised(policy: Policy, agent: str = "", wire: str = "openai", **headers: str) -> str:
    return policy.client(Caller(Headers({"user-agent": agent, **headers}), wire, "chat")).id


@pytest.mark.parametrize("name", AGENTS)
def test_each_shipped_client_is_recognised(shipped: Policy, name: str) -> None:
    wire, headers = AGENTS[name]
    assert shipped.client(Caller(Headers(headers), wire)).id == name


def test_a_request_without_headers_is_anybodys(shipped: Policy) -> None:
    assert shipped.client(Caller()).id == "generic"


def test_without_profiles_everybody_is_generic(over: Callable[..., Policy]) -> None:
    assert over({}, shipped=False).client(Caller()) is GENERIC


def test_an_operators_client_is_tried_first(over: Callable[..., Policy]) -> None:
    policy = over(clients("{id: mine, any: [claude-cli]}"))
    assert recognised(policy, "claude-cli/2", "anthropic") == "mine"


def test_markers_look_at_the_user_agent(over: Callable[..., Policy]) -> None:
    policy = over(clients("{id: mine, any: [bot, agent], all: [Acme], none: [test]}"), shipped=False)
    assert recognised(policy, "ACME bot") == "mine"
    assert recognised(policy, "acme test bot") == recognised(policy, "bot") == "generic"


def test_a_client_may_be_of_one_wire_and_one_endpoint(over: Callable[..., Policy]) -> None:
    policy = over(clients("{id: mine, wire: gemini, when: 'endpoint == \"chat\"'}"), shipped=False)
    assert (recognised(policy, wire="gemini"), recognised(policy, wire="openai")) == ("mine", "generic")


def test_one_without_conditions_hides_no_other(over: Callable[..., Policy]) -> None:
    policy = over(clients("{id: generic, restatements: [{id: g, from: 429, to: 503}]}"))
    assert recognised(policy, "claude-cli/2", "anthropic") == "claude-code"
    assert policy.clients[-1].restatements[0].id == "g"


def test_the_same_id_replaces(over: Callable[..., Policy]) -> None:
    policy = over(clients("{id: codex, any: [codex]}"))
    (codex,) = [one for one in policy.clients if one.id == "codex"]
    assert codex.restatements == () and not codex.origin.shipped


def test_disable_takes_out_clients_and_single_restatements(over: Callable[..., Policy]) -> None:
    policy = over({"c.yaml": HEAD + "disable: [codex, claude-code-long-wait]\n"})
    kept = {one.id: [inner.id for inner in one.restatements] for one in policy.clients}
    assert "codex" not in kept
    assert kept["claude-code"] == ["claude-code-account-refused"]


def test_a_file_that_disables_a_client_may_define_it_anew(over: Callable[..., Policy]) -> None:
    policy = over(clients("{id: codex, any: [codex]}", more="disable: [codex]\n"))
    assert "codex" in {one.id for one in policy.clients}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("{id: a, when: 'heder[\"x\"] exists'}", r"c\.yaml:4:20: FW020"),
        ("{id: a, when: 'header[\"\"] exists'}", r"FW020 a header has a name"),
        ("{id: a, when: 'status == 429'}", r"FW020"),
        ("{id: a, restatements: [{id: b, from: 429, when: 'stated > 1s'}]}", r"FW020"),
        ("{id: a, restatements: [{id: b, from: 429, retry_after: '60'}]}", r"FW020"),
        ("{id: a, restatements: [{id: b, from: 429, hint: 'in {time}'}]}", r"FW011 a hint does not know `{time}`"),
        ("{id: a, restatements: [{id: b, from: 599-400}]}", r"FW011 `599-400`"),
        ("{id: a, restatements: [{id: b, from: 200}]}", r"FW011"),
        ("{id: a, restatements: [{id: b, from: 429, to: 200}]}", r"FW011"),
        ("{id: a, restatements: [{id: b, from: 429, headers: {x-faultwise-status: '1'}}]}", r"FW01\d"),
        ('{id: a, restatements: [{id: b, from: 429, headers: {x-a: "b\\n"}}]}', r"FW01\d"),
        ('{id: a, restatements: [{id: b, from: 429, headers: {"x-a\\n": b}}]}', r"FW01\d"),
        ("{id: a, restatements: [{id: b, from: 429, headers: {X-Faultwise-Status: '1'}}]}", r"FW01\d"),
        ("{id: a, restatements: [{id: b}]}", r"FW012"),
        ("{id: a, restatements: [{id: a, from: 429}]}", r"FW022 duplicate id `a`"),
    ],
)
def test_what_is_wrong_is_reported_and_nothing_loads(over: Callable[..., Policy], row: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        over(clients(row))


def test_disabling_what_is_not_there_is_a_problem(over: Callable[..., Policy]) -> None:
    with pytest.raises(PolicyError, match=r"c\.yaml:3:11: FW021 `disable` names `nobody`"):
        over({"c.yaml": HEAD + "disable: [nobody]\n"})
